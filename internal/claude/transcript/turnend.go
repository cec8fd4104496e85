package transcript

import (
	"slices"
	"strings"
)

// TurnEnd is how a running turn ended.
type TurnEnd int

// The ends.
const (
	NotEnded    TurnEnd = iota
	Ended               // by itself
	Interrupted         // by a person's Escape
)

// TurnEnd returns the end of the turn that was running when the transcript had after bytes. If a turn is interrupted
// before any answer, Claude gives its prompt back and writes nothing.
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

// interrupted begins the message by which Claude notes that a person has pressed Escape.
const interrupted = "[Request interrupted by user"

// interrupts reports whether a record notes that a person has pressed Escape.
func (r *conversationRecord) interrupts() bool {
	return slices.ContainsFunc(r.messages(), func(m Message) bool { return m.Speaker == You && strings.HasPrefix(m.Text, interrupted) })
}

// endsTurn reports whether a record is the last one of a turn.
func (r *conversationRecord) endsTurn() bool {
	switch r.message().StopReason {
	case "end_turn", "max_tokens", "refusal", "model_context_window_exceeded":
		return true
	}
	return r.Type == "system" && r.Subtype == "turn_duration"
}
