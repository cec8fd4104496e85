package supervisor

import (
	"context"
	"errors"
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// A /clear, /branch or /resume inside claude moves the agent to another conversation. Its record follows: by a hook,
// by a look at Claude's registry, or at its end.

// follow moves the record to the agent's present conversation before the agent is ended: after that, nothing shows
// it.
func (s *Supervisor) follow(r *agent.Record) {
	config, err := s.Project.ConfigOf(r)
	if err != nil || s.Project.Store.IsNotAllowed(r) { // if the record is not allowed, its process may be any process
		return
	}
	if id, moved := config.Registry().MovedTo(r, s.Project.Store.Report(r.Handle), 0); moved {
		r.Replace(id, s.Project.Seconds(), live.Moved)
	}
}

// update changes a record, which may move to another conversation, and journals such a move.
func (s *Supervisor) update(ctx context.Context, handle agent.Handle, change func(*agent.Record) error) (agent.Record, error) {
	r, untold, err := s.Project.Store.Move(ctx, handle, s.Project.Seconds(), change)
	return r, errors.Join(untold, err)
}

// goBack makes an earlier conversation of the agent its present one. It refuses any other id: an existing
// conversation need not be the agent's. It also refuses one that another agent has taken up since: two agents would
// take turns in it.
func (s *Supervisor) goBack(r *agent.Record, id agent.SessionID) error {
	if id == "" || id == r.SessionID {
		return nil
	}
	i := slices.IndexFunc(r.PreviousSessions, func(p agent.PreviousSession) bool { return p.SessionID == id })
	if i < 0 {
		return errNotEarlier(r, id)
	}
	until := r.PreviousSessions[i].Until
	r.Replace(id, s.Project.Seconds(), "resumed earlier")
	r.TranscriptSeen = until // if its transcript is gone, the resume fails, and does not begin a new conversation
	return s.Project.CheckUnrecorded(r)
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
