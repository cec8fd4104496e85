package agent

import "time"

// Adoption marks a recorded process that somebody else started. The process has no launcher of
// ours and bears no mark of a start; it counts as the agent's only as long as Claude's registry
// confirms it for that very process.
type Adoption struct {
	At time.Time `json:"at"`

	// RegisteredMS is the time at which claude entered itself into its registry, in milliseconds as
	// written there. It stays the same while the process lives, whatever conversation claude is in.
	RegisteredMS int64 `json:"registered_ms"`

	Pane string `json:"pane,omitempty"` // of tmux, "%5": the user's own; "" when not known
}
