package wire

import (
	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/team/history"
)

// Found is a message that search has found.
type Found struct {
	Handle       agent.Handle      `json:"handle"`                 // "" for a keyed conversation
	Conversation conversations.Key `json:"conversation,omitempty"` // its key
	Dismissed    bool              `json:"dismissed,omitempty"`    // the agent was dismissed
	Project      string            `json:"project,omitempty"`      // with --all-projects
	Transcript   string            `json:"transcript"`             // the file
	Archived     bool              `json:"archived"`               // Claude has deleted the transcript; the file is the kept copy

	Said
}

// NewFound converts a match.
func NewFound(m history.Found, project string) Found {
	return Found{
		Handle: m.Handle, Conversation: m.Key, Dismissed: m.Dismissed, Project: project, Transcript: m.Path, Archived: m.Archived, Said: NewSaid(m.Said),
	}
}
