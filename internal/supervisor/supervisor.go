// Package supervisor is what nbs-worker does. Spawn, adopt, resume, stop and dismiss each
// take the verb lock, change the world through store, tmux, launcher and proc, observe the
// result, and only then claim it. Looks (list, session, wait, screen) take none; what they
// write down is what they have seen. Hooks and status lines report through it.
//
// What it may signal is what a record names, identity for identity. A question that
// was not answered leads to no kill and to no start. The package knows no flags and
// prints nothing; cli does both.
package supervisor

import (
	"context"
	"sync"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/observe"
	"nbs-worker/internal/store/journal"
)

// Supervisor acts on the agents of one project.
type Supervisor struct {
	observe.Observer

	ignored sync.Once // by git, as far as this command knows
	looked  sync.Once // for the agent that calls
	found   *calling  // nil: a person
	lookErr error
}

func (s *Supervisor) now() time.Time { return s.Seconds() }

// lockVerb takes the right to change an agent's life, for a verb that will write.
func (s *Supervisor) lockVerb(ctx context.Context, handle agent.Handle, verb string) (unlock func(), err error) {
	unlock, err = s.Store.LockVerb(handle, verb, s.now())
	if err == nil {
		s.keepOutOfGit(ctx)
	}
	return unlock, err
}

// awaitVerb is lockVerb for a verb that waits some seconds until another one has ended.
func (s *Supervisor) awaitVerb(ctx context.Context, handle agent.Handle, verb string) (unlock func(), err error) {
	unlock, err = s.Store.AwaitVerb(ctx, handle, verb, s.now())
	if err == nil {
		s.keepOutOfGit(ctx)
	}
	return unlock, err
}

// projectHash tells projects apart that use the same handle on one tmux server.
func (s *Supervisor) projectHash() string {
	const enough = 8 // characters
	return s.Store.ProjectHash()[:enough]
}

// journal writes down what was done; a failure to do so is the verb's failure.
func (s *Supervisor) journal(ctx context.Context, event string, r *agent.Record, detail string) error {
	return s.Store.Journal().Append(ctx, journal.EventOf(r, s.now(), event, detail))
}

// noteTranscript remembers that the conversation has a transcript, so that its loss
// will be noticed.
func noteTranscript(r *agent.Record, config claude.Config, now time.Time) {
	if spoken, err := config.Spoken(r.SessionID); err == nil && spoken {
		r.TranscriptSeen = now
	}
}
