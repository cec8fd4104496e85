package supervisor

import (
	"context"
	"errors"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// A /clear, /branch or /resume inside claude leads the agent into another conversation. Its
// record follows: by a hook, by Claude's registry when somebody looks, or at its end.

// follow moves the record to the conversation that the agent is in before it is ended:
// afterwards nothing shows it.
func (s *Supervisor) follow(r *agent.Record) {
	config, err := s.ConfigOf(r)
	if err != nil || s.Store.IsNotAllowed(r) { // the process of a record that is not allowed may be anybody's
		return
	}
	if id, moved := config.Registry().MovedTo(r, s.Store.Report(r.Handle), 0); moved {
		r.Replace(id, s.Seconds(), live.Moved)
	}
}

// update changes a record by a change that may follow the agent, and journals the move.
func (s *Supervisor) update(ctx context.Context, handle agent.Handle, change func(*agent.Record) error) (agent.Record, error) {
	r, untold, err := s.Store.Move(ctx, handle, s.Seconds(), change)
	return r, errors.Join(untold, err)
}

// goBack makes an earlier conversation of the agent its present one. No other id is taken:
// that a conversation exists does not show that it is the agent's.
func goBack(r *agent.Record, id agent.SessionID, now time.Time) error {
	if id == "" || id == r.SessionID {
		return nil
	}
	i := slices.IndexFunc(r.PreviousSessions, func(p agent.PreviousSession) bool { return p.SessionID == id })
	if i < 0 {
		return errNotEarlier(r, id)
	}
	until := r.PreviousSessions[i].Until
	r.Replace(id, now, "resumed earlier")
	r.TranscriptSeen = until // if its transcript is gone, the resume fails, and begins no new one
	return nil
}

const earlierShown = 5

func errNotEarlier(r *agent.Record, id agent.SessionID) error {
	err := fail.Errorf(fail.NotFound, "the agent was never in the conversation %s", id)
	if len(r.PreviousSessions) == 0 {
		return err.Hint("it has been in none but the present one: nbs-worker resume %s", r.Handle)
	}
	for _, p := range slices.Backward(r.PreviousSessions[max(0, len(r.PreviousSessions)-earlierShown):]) {
		err = err.Hint("it was in this one until %s (%s): nbs-worker resume %s --session-id %s",
			p.Until.Format("2006-01-02 15:04 MST"), human.Word(p.Reason), r.Handle, p.SessionID)
	}
	return err
}
