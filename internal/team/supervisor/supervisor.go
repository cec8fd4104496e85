// Package supervisor is what nbs-worker does. Spawn, adopt, resume, stop and dismiss each
// take the verb lock, change the world through store, tmux, launcher and proc, observe the
// result, and only then claim it. Looks (list, session, wait, screen) take none; what they
// write down is what they have seen. Hooks and status lines report through it.
//
// What it may signal is what a record names, identity for identity. An
// unanswered query leads to no kill and to no start. The package parses no flags and
// prints nothing; cli does both.
package supervisor

import (
	"context"
	"sync"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store"
	brief "nbs-worker/internal/team/briefing"
	"nbs-worker/internal/team/caller"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/keep"
	"nbs-worker/internal/team/launch"
	"nbs-worker/internal/team/observe"
)

// Supervisor acts on the agents of one project.
type Supervisor struct {
	inspect.Inspector

	// Remembered returns what the memory of a project has of an agent, the newest first, for a briefing. Whoever makes a
	// Supervisor sets it, since memory is a wing above.
	Remembered func(context.Context, *store.Store, agent.Handle) ([]brief.Note, error)

	looked  sync.Once      // for the agent that calls
	found   *caller.Caller // nil: a person
	lookErr error
}

// New is the supervisor of what an observer sees.
func New(o observe.Observer) *Supervisor {
	return &Supervisor{Inspector: inspect.Inspector{Keeper: keep.Keeper{Observer: o}}}
}

func (s *Supervisor) starter() launch.Starter { return launch.Starter{Keeper: &s.Keeper} }

// lockVerb takes the right to change an agent's life, for a verb that will write. It waits for another verb only
// where that one is short.
func (s *Supervisor) lockVerb(ctx context.Context, handle agent.Handle, verb string) (unlock func(), err error) {
	unlock, err = s.Store.LockVerb(handle, verb, s.Seconds())
	if fail.KindOf(err) != fail.Conflict {
		return unlock, err
	}
	return s.Store.AwaitVerb(ctx, handle, verb, s.Seconds(), store.Patience{Short: store.ShortVerb})
}

// awaitVerb is lockVerb for a verb that waits some seconds for any other one.
func (s *Supervisor) awaitVerb(ctx context.Context, handle agent.Handle, verb string) (unlock func(), err error) {
	return s.Store.AwaitVerb(ctx, handle, verb, s.Seconds(), Briefly)
}

// Briefly is the patience of a verb that ends an agent, or its turn: some seconds for a verb that may take long.
var Briefly = store.Patience{Short: store.ShortVerb, Other: 5 * time.Second}

// Quiet waits until no short verb is at work on an agent. Errors: Conflict when another one is; Interrupted.
func (s *Supervisor) Quiet(ctx context.Context, handle agent.Handle, verb string) error {
	unlock, err := s.lockVerb(ctx, handle, verb)
	if err == nil {
		unlock()
	}
	return err
}
