package wire

import (
	"nbs-worker/internal/agent"
	"nbs-worker/internal/team/supervisor"
)

// Renamed is an agent that got another handle.
type Renamed struct {
	Handle    agent.Handle    `json:"handle"`
	From      agent.Handle    `json:"from"` // the handle before
	SessionID agent.SessionID `json:"session_id"`
	Started   *Started        `json:"started,omitempty"` // its start under the new handle; absent: it did not run
	Moved     int             `json:"messages_moved"`    // messages that waited for it
}

// NewRenamed converts a rename.
func NewRenamed(r supervisor.Renamed) Renamed {
	out := Renamed{Handle: r.Record.Handle, From: r.From, SessionID: r.Record.SessionID, Moved: r.Moved}
	if r.Again != nil {
		out.Started = new(NewStarted(*r.Again))
	}
	return out
}
