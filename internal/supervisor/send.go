package supervisor

import (
	"context"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/caller"
)

// LockToSend takes the verb lock for a verb that types into an agent's terminal. For another command
// it waits until it is late; zero: never.
func (s *Supervisor) LockToSend(ctx context.Context, handle agent.Handle, verb string, late time.Time) (unlock func(), err error) {
	for {
		unlock, err = s.awaitVerb(ctx, handle, verb)
		if agent.KindOf(err) != agent.Conflict || ctx.Err() != nil || !late.IsZero() && !time.Now().Before(late) {
			return unlock, err
		}
	}
}

// Envelope is what stands above a message to an agent, by who calls: "" for a person's.
func (s *Supervisor) Envelope(to agent.Handle, order bool) (string, error) {
	c, err := s.caller()
	if err != nil {
		return "", err
	}
	return c.Envelope(s.Store.Project(), to, order)
}

// IsCaller tells whether an agent is who calls.
func (s *Supervisor) IsCaller(handle agent.Handle) bool {
	c, err := s.caller()
	return err == nil && c != nil && c.Is(s.Store.Project(), handle)
}

// CheckFile is [caller.Caller.CheckFile] of who calls.
func (s *Supervisor) CheckFile(path string) error {
	return s.mayCaller(func(c *caller.Caller) error { return c.CheckFile(path) })
}
