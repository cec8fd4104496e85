package transcript

import (
	"slices"
	"strings"
)

// TurnEnd is how a turn ended that was going on.
type TurnEnd int

// The ends.
const (
	NotEnded    TurnEnd = iota
	Ended               // by itself
	Interrupted         // by a person's Escape
)

// TurnEnd tells how the turn ended in which the agent was when the transcript had so many bytes.
// When nothing was answered yet, Claude gives the prompt of an interrupted turn back and writes
// nothing down.
func (t File) TurnEnd(after int64) (end TurnEnd, err error) {
	err = t.eachBehind(after, func(r *conversationRecord) bool {
		switch {
		case r.IsSidechain:
		case r.interrupts():
			end = Interrupted
		case r.IsAPIError, r.endsTurn():
			end = Ended
		}
		return end == NotEnded
	})
	return end, err
}

// interrupted is how Claude notes that a person has pressed Escape.
const interrupted = "[Request interrupted by user"

// interrupts tells whether a record notes that a person has pressed Escape.
func (r *conversationRecord) interrupts() bool {
	return slices.ContainsFunc(r.messages(), func(m Message) bool { return m.Speaker == You && strings.HasPrefix(m.Text, interrupted) })
}

// endsTurn tells whether a record is the last one of a turn.
func (r *conversationRecord) endsTurn() bool {
	switch r.message().StopReason {
	case "end_turn", "max_tokens", "refusal", "model_context_window_exceeded":
		return true
	}
	return r.Type == "system" && r.Subtype == "turn_duration"
}
