package inspect

import (
	"cmp"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/transcript"
)

// LastError is the error of the API with which an agent's last turn ended.
type LastError struct {
	Class string    `json:"class"` // as Claude names it: "rate_limit"; "unknown" when it does not
	At    time.Time `json:"at,omitzero"`
	Text  string    `json:"text,omitempty"` // what stood on the screen
}

// ClassAuthentication is the class of an error that a login mends, in Claude's words.
const ClassAuthentication = "authentication_failed"

// lastError is with what the last turn ended, as the transcript and the hooks of this start say. Claude
// runs its hook first and writes the transcript a little later: the failure that it told counts until a
// turn was written down since. Nil when the last turn went well.
func lastError(report agent.Report, file *transcript.File) *LastError {
	var turn transcript.Turn
	if file != nil {
		turn, _ = file.LastTurn() // one that cannot be read says nothing
	}
	told := report.Failure
	if turn.Error == nil {
		if told == nil || turn.At.After(told.At) {
			return nil
		}
		return &LastError{Class: told.Class, At: told.At, Text: told.Text}
	}
	last := &LastError{Class: turn.Error.Class, At: turn.At.UTC(), Text: turn.Error.Text}
	if told != nil {
		last.Class = told.Class
		last.At = cmp.Or(last.At, told.At)
	}
	return last
}
