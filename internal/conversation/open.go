package conversation

import (
	"context"
	"fmt"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/store/conversations"
)

// What is done when the conversation is lost.
const (
	LostFail  = "fail"
	LostFresh = "fresh"
)

// The classes of turns that failed, beside Claude's.
const (
	ClassLost     = "lost"      // the conversation is gone and could not be put back
	ClassTimedOut = "timed_out" // there was no answer in time
	ClassInUse    = turn.SessionInUse
	ClassFailed   = turn.Failed
)

// The reasons of resets; another one is told as it is.
const (
	ReasonAsked = "it was reset"              // by who talks in the conversation, who knows
	ReasonLost  = "it could not be resumed: " // begins that of one that was lost
)

// lostError is that a conversation is gone.
type lostError struct{ error }

// record is the conversation as those look at it who know agents only.
func (j *job) record(id agent.SessionID, confirmed bool) *agent.Record {
	meta := &j.state.Meta
	r := &agent.Record{Spec: agent.Spec{
		Schema: agent.Schema, SessionID: id, Model: meta.Model, ProjectRoot: j.Store.Project(), Cwd: meta.Cwd, ConfigDir: meta.ConfigDir,
	}}
	if confirmed {
		r.TranscriptSeen = j.state.LastAt
	}
	return r
}

func (j *job) config() (claude.Config, error) { return claude.ConfigAt(j.state.Meta.ConfigDir) }

// choose decides on which conversation claude is opened, and how. A transcript that is gone is put back
// where it was kept. Errors: lostError.
func (j *job) choose(ctx context.Context) (id agent.SessionID, opening claude.Opening, err error) {
	now := j.state.Session
	if j.ask.Isolated || now.ID == "" {
		return agent.NewSessionID(), claude.OpenNew, nil
	}
	config, err := j.config()
	if err != nil {
		return "", "", err
	}
	r, keeper := j.record(now.ID, now.Confirmed), j.keeper()
	opening, kept, err := keeper.Opening(r, config, false)
	switch {
	case agent.KindOf(err) == agent.NotFound:
		return "", "", lostError{err}
	case err != nil:
		return "", "", err
	case kept != nil:
		if _, err := keeper.PutBack(ctx, "ask", r, config); err != nil {
			return "", "", err
		}
		return now.ID, claude.OpenResume, nil
	case opening == claude.OpenNew:
		// Claude takes an id neither for new nor for old of which there is a file without a message.
		if _, found, err := config.Transcript(now.ID); err != nil || found {
			return agent.NewSessionID(), claude.OpenNew, err
		}
	}
	return now.ID, opening, nil
}

// replace begins a new conversation for the one that is lost, where that was asked for.
func (j *job) replace(ctx context.Context, cause error) error {
	previous, err := j.c.Reset(ctx, ReasonLost+cause.Error(), nil)
	if err != nil {
		return err
	}
	j.state.Session, j.state.TellReset = conversations.Session{}, &previous
	return nil
}

// goneMeanwhile is for a claude that did not find its conversation.
func (j *job) goneMeanwhile(ctx context.Context, w *worker, o turn.Outcome) error {
	return j.settleLost(ctx, fmt.Errorf("the conversation %s cannot be resumed: %s", w.session, o.Detail))
}

// settleLost is what becomes of a turn whose conversation is lost: the caller decides.
func (j *job) settleLost(ctx context.Context, cause error) error {
	if j.ask.OnLost == LostFresh && j.state.TellReset == nil { // once
		return j.replace(ctx, cause)
	}
	return j.over(ctx, conversations.Result{
		Seq: j.turn.Seq, ID: j.turn.ID, SHA: j.turn.SHA, Class: ClassLost, Error: cause.Error(),
		Attempts: j.attempt(), At: j.Now().UTC(),
	})
}

// told adds to a result what its conversation is, and what the user has to know of it.
func (j *job) told(r conversations.Result) conversations.Result {
	if r.Class != "" {
		return r
	}
	if j.ask.Isolated {
		r.Notice = strings.Join(j.notices, " ")
		return r
	}
	if before := j.state.TellReset; before != nil {
		r.Continuity, r.PreviousSessionID, r.Reason = conversations.Reset, before.ID, before.Reason
		cause, isLost := strings.CutPrefix(before.Reason, ReasonLost)
		switch {
		case isLost:
			j.notices = append(j.notices, fmt.Sprintf("Your session could not be resumed (%s); this is a new one. The one before was %s.", cause, before.ID))
		case before.Reason != ReasonAsked:
			j.notices = append(j.notices, fmt.Sprintf("This is a new conversation: %s. The one before is kept as %s.", before.Reason, before.ID))
		}
	}
	r.Notice = strings.Join(j.notices, " ")
	return r
}
