package wire

import (
	"nbs-worker/internal/agent"
)

// Moved is an agent that was moved to another machine.
type Moved struct {
	Handle    agent.Handle    `json:"handle"`
	SessionID agent.SessionID `json:"session_id"`
	From      string          `json:"from"` // the name of the host; here: this machine
	To        string          `json:"to"`
	Cwd       string          `json:"cwd"`                 // its folder there
	Started   bool            `json:"started"`             // it ran before, and runs there
	State     string          `json:"state,omitempty"`     // of a started one
	TreeLeft  string          `json:"tree_left,omitempty"` // why its worktree stays where it was
	Dropped   int             `json:"dropped_messages"`    // that no command of the user wrote
	NoBranch  bool            `json:"no_branch,omitempty"` // its worktree there has no branch: that is in use
}

// Stayed is an agent whose move was canceled.
type Stayed struct {
	Handle agent.Handle `json:"handle"`
	At     string       `json:"at"`   // the name of the machine
	Back   bool         `json:"back"` // it had left, and was brought back
}
