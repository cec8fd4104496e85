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

	"nbs-worker/internal/agent"
	"nbs-worker/internal/caller"
	"nbs-worker/internal/inspect"
	"nbs-worker/internal/keep"
	"nbs-worker/internal/launch"
	"nbs-worker/internal/observe"
)

// Supervisor acts on the agents of one project.
type Supervisor struct {
	inspect.Inspector

	looked  sync.Once      // for the agent that calls
	found   *caller.Caller // nil: a person
	lookErr error
}

// New is the supervisor of what an observer sees.
func New(o observe.Observer) *Supervisor {
	return &Supervisor{Inspector: inspect.Inspector{Keeper: keep.Keeper{Observer: o}}}
}

func (s *Supervisor) starter() launch.Starter { return launch.Starter{Keeper: &s.Keeper} }

// lockVerb takes the right to change an agent's life, for a verb that will write.
func (s *Supervisor) lockVerb(handle agent.Handle, verb string) (unlock func(), err error) {
	return s.Store.LockVerb(handle, verb, s.Seconds())
}

// awaitVerb is lockVerb for a verb that waits some seconds until another one has ended.
func (s *Supervisor) awaitVerb(ctx context.Context, handle agent.Handle, verb string) (unlock func(), err error) {
	return s.Store.AwaitVerb(ctx, handle, verb, s.Seconds())
}
