package supervisor

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/turnfiles"
	brief "nbs-worker/internal/team/briefing"
	"nbs-worker/internal/team/launch"
)

// Briefing names a conversation. An agent is briefed about it in a new one, beside its first prompt.
type Briefing struct {
	SessionID agent.SessionID // "": the conversation that is replaced
	Why       string          // why it was replaced
}

// brief returns the briefing for the agent; "" if there is nothing to say.
func (s *Supervisor) brief(ctx context.Context, b *Briefing, r *agent.Record) (string, brief.Source) {
	if b == nil {
		return "", brief.Source{}
	}
	noted, err := s.Remembered(ctx, s.Project.Store, r.Handle)
	text, from := brief.Text(s.Project, r, brief.Wanted{SessionID: cmp.Or(b.SessionID, r.SessionID), Why: b.Why}, noted)
	if err != nil && from.Missed == nil {
		from.Missed = fmt.Errorf("what is remembered cannot be read: %w", err)
	}
	return text, from
}

const (
	briefWait  = 15 * time.Second // Claude gives a hook ten seconds
	briefEvery = 25 * time.Millisecond
)

// awaitBriefed waits until claude's first hook has read the briefing of a start. Errors: TimedOut and Interrupted,
// while the agent runs; Failed when claude has left: then its launcher removes the briefing.
func (s *Supervisor) awaitBriefed(interrupt context.Context, p *launch.Plan, r *agent.Record) error {
	if p.Brief == "" {
		return nil
	}
	files := s.Project.Store.TurnFiles(r.Process.Invocation)
	limited, cancel := context.WithTimeout(interrupt, briefWait)
	defer cancel()
	for files.Has(turnfiles.Briefing) {
		select {
		case <-limited.Done():
			kind := fail.TimedOut
			if interrupt.Err() != nil {
				kind = fail.Interrupted
			}
			return fail.Errorf(kind, "the agent runs, and its claude has not asked for the briefing").
				Hint("look at it: nbs-worker attach %s", r.Handle).
				Hint("or tell it: nbs-worker send %s 'Read what was said before: nbs-worker logs %s --all -n 40'", r.Handle, r.Handle)
		case <-time.After(briefEvery):
		}
	}
	now, err := s.Project.Store.Load(r.Handle)
	if err != nil {
		return err
	}
	if exit := now.ExitOf(r.Process.Invocation); exit != nil {
		return fail.Errorf(fail.Failed, "claude left right after its start (%s), perhaps without the briefing", exit.Summary()).
			Hint("how it is now: nbs-worker session %s", r.Handle)
	}
	return nil
}
