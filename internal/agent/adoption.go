package agent

import "time"

// Adoption marks a recorded process that was started without nbs-worker. It has no launcher of ours and no mark of a
// start. It counts as the agent's only while Claude's registry confirms that for that very process.
type Adoption struct {
	At time.Time `json:"at"`

	// RegisteredMS is the time at which claude wrote its registry entry, in milliseconds as in the entry. It stays the
	// same while the process lives, also when claude changes the conversation.
	RegisteredMS int64 `json:"registered_ms"`

	Pane string `json:"pane,omitempty"` // of tmux, "%5": the user's own; "" if unknown
}
