package wire

import (
	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/team/supervisor"
)

// Set says what was changed in the record of an agent.
type Set struct {
	Handle       agent.Handle      `json:"handle"`                 // "" for a keyed conversation
	Conversation conversations.Key `json:"conversation,omitempty"` // its key
	Running      bool              `json:"running"`                // it runs, with the earlier values
	Changed      []Change          `json:"changed"`
}

// Change is a field with a new value.
type Change struct {
	Field string `json:"field"` // model, permission-mode, prompt, restart, answers or budget
	From  string `json:"from"`
	To    string `json:"to"`
	Takes string `json:"takes_effect"` // now, or next start
}

// When a change takes effect.
const (
	Now       = "now"
	NextStart = "next start"
)

// NewSet converts the outcome of a set.
func NewSet(c supervisor.Changed) Set {
	return Set{Handle: c.Record.Handle, Running: c.Runs, Changed: agent.Mapped(c.Changes, func(c supervisor.Change) Change {
		takes := NextStart
		if c.Now {
			takes = Now
		}
		return Change{Field: c.Field, From: c.From, To: c.To, Takes: takes}
	})}
}

// Reset says what an agent's restart policy has forgotten.
type Reset struct {
	Handle   agent.Handle `json:"handle"`
	Failures int          `json:"failures"`
	Held     *Hold        `json:"held"` // null: it was not held
}

// NewReset converts what was cleared for an agent.
func NewReset(handle agent.Handle, was agent.Restarts) Reset {
	return Reset{Handle: handle, Failures: len(was.Counted), Held: newHold(was.Hold)}
}
