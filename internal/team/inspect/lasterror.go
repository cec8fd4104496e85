package inspect

import (
	"time"
	"unicode/utf8"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/human"
)

// LastError is the error of the API with which an agent's last turn ended.
type LastError struct {
	Class string    `json:"class"` // in Claude's words: "rate_limit"; "unknown" if Claude gives none
	At    time.Time `json:"at,omitzero"`
	Text  string    `json:"text,omitempty"` // as shown on the screen
}

// ClassAuthentication is Claude's class of an error that a login mends.
const ClassAuthentication = "authentication_failed"

// IsUsageLimit reports whether the turn ended because of a limit of the user's plan or of the API.
func (e *LastError) IsUsageLimit() bool {
	limited, _ := screen.UsageLimit(e.Text, e.At)
	return limited || e.Class == "rate_limit"
}

// IsTooLong reports whether Claude said that the conversation has no room left.
func (e *LastError) IsTooLong() bool { return screen.TooLong(e.Text) }

// lastError returns the error with which the last turn ended, from the transcript and the hooks of this start; nil
// if the turn succeeded. Claude first runs its hook and then writes the transcript: a failure from a hook counts
// until the transcript has a later end of a turn.
func lastError(report agent.Report, file *transcript.File) *LastError {
	var turn transcript.Turn
	if file != nil {
		turn, _ = file.LastTurn() // an unreadable transcript counts as empty
	}
	told, written := report.Failure, turn.Error
	switch {
	case told != nil && !turn.At.After(told.At):
		last := &LastError{Class: told.Class, At: told.At, Text: human.Cut(told.Text, agent.FailureText, utf8.RuneLen)}
		if written != nil && last.Text == "" {
			last.Text = written.Text
		}
		return last
	case written == nil || turn.At.Before(report.Done):
		return nil
	}
	last := &LastError{Class: written.Class, At: turn.At.UTC(), Text: written.Text}
	if told != nil && told.Text == last.Text { // otherwise it belongs to an earlier turn
		last.Class = told.Class
	}
	return last
}
