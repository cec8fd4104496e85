package client

import (
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/conversations"
)

// Turn is a turn whose result a caller waits for.
type Turn struct {
	Key    conversations.Key `json:"key"`
	ID     string            `json:"id"`
	Stream bool              `json:"stream,omitempty"`
}

// Message is a message for a chat.
type Message struct {
	To   string `json:"to"` // the key of its conversation
	Text string `json:"text"`
}

// Scheduled is a run of a schedule by hand.
type Scheduled struct {
	Name string    `json:"name"`
	At   time.Time `json:"at"`
}

// Told is a line of the answer: first parts of the text, then the result or the error.
type Told struct {
	Text   string                `json:"text,omitempty"`
	Result *conversations.Result `json:"result,omitempty"`
	Error  *Failure              `json:"error,omitempty"`
}

// Failure is an error in the form sent to the caller.
type Failure struct {
	Kind  fail.Kind `json:"kind"`
	Words string    `json:"words"`
	Hints []string  `json:"hints,omitempty"`
}

// FailureOf converts an error for the answer.
func FailureOf(err error) *Failure {
	return &Failure{Kind: fail.KindOf(err), Words: err.Error(), Hints: fail.HintsOf(err)}
}

func (f *Failure) error() error {
	err := fail.Errorf(f.Kind, "%s", f.Words)
	for _, hint := range f.Hints {
		err = err.Hint("%s", hint)
	}
	return err
}

// ErrNoBridge returns the error that there is no bridge to chats.
func ErrNoBridge() error {
	return fail.Errorf(fail.Unfit, "no bridge to chats is running").
		Hint("nbs-worker serve --telegram-token-file FILE --telegram-chat ID")
}
