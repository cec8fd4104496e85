// Package supervisor has the main verbs of nbs-worker. Spawn, adopt, resume, stop and dismiss take the verb lock, act
// through store, tmux, launcher and machine, and observe the result before they report it. Looks (list, session, wait,
// screen) take no lock, and write only what they have seen. Hooks and status lines report through this package.
//
// It may signal only a process that a record names, with exactly the same identity. If a query is not answered,
// nothing is killed or started. The package parses no flags and prints nothing; cli does both.
package supervisor

import (
	"context"
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
	Project   *observe.Project
	Keeper    *keep.Keeper
	Inspector *inspect.Inspector

	// Remembered returns what the memory of a project has about an agent, the newest first, for a briefing. The code
	// that creates a Supervisor sets it, because memory is a wing above.
	Remembered func(context.Context, *store.Store, agent.Handle) ([]brief.Note, error)

	Caller *caller.Caller // who runs the verb; nil: a person
	Room   agent.Room     // what the user's other machine, which asks for the verb, allows here
}

// New returns the supervisor of a project, for a caller that [caller.Find] has found.
func New(project *observe.Project, by *caller.Caller) *Supervisor {
	inspector := inspect.New(project)
	return &Supervisor{Project: project, Keeper: inspector.Keeper, Inspector: inspector, Caller: by}
}

func (s *Supervisor) starter() launch.Starter {
	return launch.Starter{Project: s.Project, Keeper: s.Keeper}
}

// lockVerb takes the lock for changing an agent, for a verb that will write. It waits for another verb only if that
// one is short.
func (s *Supervisor) lockVerb(ctx context.Context, handle agent.Handle, verb string) (unlock func(), err error) {
	unlock, err = s.Project.Store.LockVerb(handle, verb, s.Project.Seconds())
	if fail.KindOf(err) != fail.Conflict {
		return unlock, err
	}
	return s.Project.Store.AwaitVerb(ctx, handle, verb, s.Project.Seconds(), store.Patience{Short: store.ShortVerb})
}

// awaitVerb is lockVerb for a verb that waits some seconds for any other verb.
func (s *Supervisor) awaitVerb(ctx context.Context, handle agent.Handle, verb string) (unlock func(), err error) {
	return s.Project.Store.AwaitVerb(ctx, handle, verb, s.Project.Seconds(), Briefly)
}

// Briefly is the patience of a verb that ends an agent or its turn: it waits some seconds for a verb that may take
// long.
var Briefly = store.Patience{Short: store.ShortVerb, Other: 5 * time.Second}

// Quiet waits until no short verb holds an agent. Errors: Conflict when another verb does; Interrupted.
func (s *Supervisor) Quiet(ctx context.Context, handle agent.Handle, verb string) error {
	unlock, err := s.lockVerb(ctx, handle, verb)
	if err == nil {
		unlock()
	}
	return err
}
