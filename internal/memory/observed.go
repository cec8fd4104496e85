package memory

import (
	"time"

	"nbs-worker/internal/agent"
)

// Observed is a conversation of an agent that has observations, or may get some.
type Observed struct {
	ContentID   agent.SessionID `json:"content_id"`
	Handle      agent.Handle    `json:"handle"`                 // as at first sight
	FirstPrompt string          `json:"first_prompt,omitempty"` // as at first sight
	MemoryID    agent.SessionID `json:"-"`                      // of its observer; empty until captured
	Synthesized bool            `json:"-"`                      // we minted the memory id, for notes by hand: there is no such conversation
	ReadTo      string          `json:"read_to,omitempty"`      // uuid of the last record of the transcript that was observed
	Created     time.Time       `json:"created"`
}

// Captured reports whether observations can be stored: the conversation has an observer's id.
func (o Observed) Captured() bool { return o.MemoryID != "" }

// State returns the state of the memory id, for people.
func (o Observed) State() string {
	switch {
	case !o.Captured():
		return "not captured"
	case o.Synthesized:
		return "synthesized"
	}
	return "captured"
}

// ShouldResume reports whether the observer's next prompt continues the conversation o.MemoryID; otherwise it begins
// a new one. prompt counts from 1 for this content id in this process. After a restart a stored id proves nothing
// about its conversation, so the first prompt begins a new one. forced asks for a new one.
func ShouldResume(o Observed, prompt int, forced bool) bool {
	return o.Captured() && !o.Synthesized && prompt > 1 && !forced
}
