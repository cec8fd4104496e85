package conversation

import (
	"context"
	"fmt"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/conversations"
)

// What to do when the conversation is lost.
const (
	LostFail  = "fail"
	LostFresh = "fresh"
)

// The classes of failed turns, in addition to Claude's.
const (
	ClassLost     = "lost"      // the conversation is gone and could not be restored
	classTimedOut = "timed_out" // there was no answer in time
	ClassInUse    = turn.SessionInUse
	ClassFailed   = turn.Failed
)

// The reasons for resets. The next answer quotes any other reason unchanged.
const (
	ReasonAsked = "it was reset"              // by the user of the conversation, who knows it
	reasonLost  = "it could not be resumed: " // a prefix: the cause follows
)

// lostError states why a conversation is gone.
type lostError struct{ error }

// record describes the conversation as an agent's record, for packages that only know agents.
func (j *job) record(id agent.SessionID, confirmed bool) *agent.Record {
	meta := &j.state.Meta
	r := &agent.Record{Spec: agent.Spec{
		Schema: agent.Schema, SessionID: id, Model: meta.Model, ProjectRoot: j.Project.Store.Project(), Cwd: meta.Cwd, ConfigDir: meta.ConfigDir,
	}}
	if confirmed {
		r.TranscriptSeen = j.state.LastAt
	}
	return r
}

func (j *job) config() (claude.Config, error) { return claude.ConfigAt(j.state.Meta.ConfigDir) }

// choose decides which session claude opens, and how. It restores a missing transcript from the archive if it can.
// Errors: lostError.
func (j *job) choose(ctx context.Context) (id agent.SessionID, opening cmdline.Opening, err error) {
	now := j.state.Session
	if j.ask.Isolated || now.ID == "" {
		return agent.NewSessionID(), cmdline.OpenNew, nil
	}
	config, err := j.config()
	if err != nil {
		return "", "", err
	}
	unseen := j.state.IsUnseen()
	r, keeper := j.record(now.ID, now.Confirmed && !unseen), j.keeper()
	opening, kept, err := keeper.Opening(r, config, false)
	switch {
	case err == nil && opening == cmdline.OpenNew && unseen:
		return "", "", lostError{fail.Errorf(fail.NotFound, "the conversation %s was imported, and Claude has never had a transcript of it here", now.ID)}
	case fail.KindOf(err) == fail.NotFound:
		return "", "", lostError{err}
	case err != nil:
		return "", "", err
	case kept != nil:
		if _, err := keeper.PutBack(ctx, "ask", r, config); err != nil {
			return "", "", err
		}
		return now.ID, cmdline.OpenResume, nil
	case opening == cmdline.OpenNew:
		// Claude neither begins nor resumes a session whose transcript exists without a message.
		if _, found, err := config.Transcript(now.ID); err != nil || found {
			return agent.NewSessionID(), cmdline.OpenNew, err
		}
	}
	return now.ID, opening, nil
}

// replace resets a lost conversation, so that the next attempt begins a new one.
func (j *job) replace(ctx context.Context, cause error) error {
	previous, err := j.c.Reset(ctx, reasonLost+cause.Error(), nil)
	if err != nil {
		return err
	}
	j.state.Session, j.state.TellReset = conversations.Session{}, &previous
	return nil
}

// settleLost replaces a lost conversation if the request allows it; otherwise the turn fails.
func (j *job) settleLost(ctx context.Context, cause error) error {
	if j.ask.OnLost == LostFresh && j.state.TellReset == nil { // once
		return j.replace(ctx, cause)
	}
	return j.over(ctx, conversations.Result{
		Seq: j.turn.Seq, ID: j.turn.ID, SHA: j.turn.SHA, Class: ClassLost, Error: cause.Error(),
		Attempts: j.attempt(), At: j.Project.Now().UTC(),
	})
}

// withNotices records in the result whether the conversation was reset, and adds the notices for the user.
func (j *job) withNotices(r conversations.Result) conversations.Result {
	if r.Class != "" {
		return r
	}
	if j.ask.Isolated {
		r.Notice = strings.Join(j.notices, " ")
		return r
	}
	if before := j.state.TellReset; before != nil {
		r.Continuity, r.PreviousSessionID, r.Reason = conversations.Reset, before.ID, before.Reason
		cause, isLost := strings.CutPrefix(before.Reason, reasonLost)
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
