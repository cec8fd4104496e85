package agent

import "time"

// Adoption says of a recorded process that somebody else started it. It has no launcher of
// ours and bears no mark of a start; that it is the agent's is believed only as long as
// Claude's registry says so of that very process.
type Adoption struct {
	At time.Time `json:"at"`

	// RegisteredMS is when claude entered itself into its registry, as it wrote it there: in
	// milliseconds, and the same for as long as the process lives, whatever conversation it is in.
	RegisteredMS int64 `json:"registered_ms"`

	Pane string `json:"pane,omitempty"` // of tmux, "%5": the user's own; "" when not known
}
