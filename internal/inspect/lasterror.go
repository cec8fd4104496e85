package inspect

import (
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

// lastError is what the agent said in this start of its last turn through its hooks, with the words of the
// transcript, or what the transcript alone says. Nil when that turn went well.
func lastError(report agent.Report, file *transcript.File) *LastError {
	var last LastError
	found := false
	if file != nil {
		if turn, err := file.LastTurn(); err == nil && turn.Error != nil {
			found = true
			last = LastError{Class: turn.Error.Class, At: turn.At.UTC(), Text: turn.Error.Text}
		}
	}
	if said := report.Failure; said != nil && (found || file == nil) {
		found = true
		last.Class = said.Class
		if last.At.IsZero() {
			last.At = said.At
		}
	}
	if !found {
		return nil
	}
	return &last
}
