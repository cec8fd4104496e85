package wire

import (
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/team/recovery/watch"
)

// WatchAction is what a watch did, or could not do.
type WatchAction struct {
	At     *time.Time   `json:"at"`
	What   watch.Word   `json:"what"`             // repaired, not repaired, held, paused, unpaused, limit, not told
	Handle agent.Handle `json:"handle,omitempty"` // absent: it concerns no agent alone
	Detail string       `json:"detail,omitempty"`
}

// NewWatchAction converts an action of a watch.
func NewWatchAction(d watch.Action) WatchAction {
	return WatchAction{At: timeOf(d.At), What: d.Word, Handle: d.Handle, Detail: d.Detail}
}

// Notice is what a watch writes to the standard input of the program that its policy names.
type Notice struct {
	Version     int             `json:"version"` // of this format; new fields do not change it
	Event       watch.Kind      `json:"event"`   // waits, down, short, done, held, repaired, paused, unreachable, reachable
	At          *time.Time      `json:"at"`
	Project     string          `json:"project"`
	Handle      agent.Handle    `json:"handle,omitempty"`     // absent: it concerns no agent alone
	Host        string          `json:"host,omitempty"`       // absent: this machine
	SessionID   agent.SessionID `json:"session_id,omitempty"` // of the agent
	Since       *time.Time      `json:"since,omitempty"`      // when the need began
	Detail      string          `json:"detail"`
	LeftPercent *int            `json:"context_left_percent,omitempty"` // only for the event short
}

// NewNotice converts a notice of a watch over a project.
func NewNotice(n watch.Notice, project string) Notice {
	return Notice{
		Version: 2, Event: n.Kind, At: timeOf(n.At), Project: project, Handle: n.Handle, Host: n.Host, SessionID: n.SessionID, Since: timeOf(n.Since),
		Detail: n.Detail, LeftPercent: n.ContextLeft,
	}
}
