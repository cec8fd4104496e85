package wire

import (
	"time"

	"nbs-worker/internal/store/watching"
)

// Pause says whether automatic actions on the agents of a project are paused.
type Pause struct {
	Paused bool       `json:"paused"`
	Since  *time.Time `json:"since"`
	Reason string     `json:"reason,omitempty"`
	By     string     `json:"by,omitempty"` // the agent that paused it; "": a person
}

// NewPause converts a pause of a project; p is nil if it is not paused.
func NewPause(p *watching.Pause) Pause {
	if p == nil {
		return Pause{}
	}
	return Pause{Paused: true, Since: timeOf(p.Since), Reason: p.Reason, By: p.By}
}
