package wire

import (
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/store/conversations"
	brief "nbs-worker/internal/team/briefing"
)

// Observation is one observation about an agent's work.
type Observation struct {
	ID           int64             `json:"id"`
	Handle       agent.Handle      `json:"handle"`                 // "" for that of a keyed conversation
	Conversation conversations.Key `json:"conversation,omitempty"` // its key
	SessionID    agent.SessionID   `json:"session_id"`             // of the observed conversation
	Observer     agent.SessionID   `json:"observer"`               // session id of the observer's conversation
	Turn         int               `json:"turn"`                   // of the conversation, from 1; 0: no turn
	Type         memory.Type       `json:"type"`                   // decision, fix, discovery, change, open_end or question
	Title        string            `json:"title"`
	Narrative    string            `json:"narrative"`
	Facts        []string          `json:"facts"`
	Files        []string          `json:"files"`
	At           *time.Time        `json:"at"` // when it was stored
}

// NewObservation converts a stored observation.
func NewObservation(o memory.Observation) Observation {
	handle, key := named(o.Handle)
	return Observation{
		ID: o.ID, Handle: handle, Conversation: key, SessionID: o.ContentID, Observer: o.MemoryID, Turn: o.Turn, Type: o.Type, Title: o.Title, Narrative: o.Narrative,
		Facts: list(o.Facts), Files: list(o.Files), At: timeOf(o.At),
	}
}

// MemoryStatus is the progress of the observers of a project.
type MemoryStatus struct {
	On              []agent.Handle      `json:"on"`               // agents whose memory is on
	OnConversations []conversations.Key `json:"on_conversations"` // keyed conversations whose memory is on
	TokensToday     int                 `json:"tokens_today"`     // spent by the observers on the present day in UTC
	Conversations   []Observed          `json:"conversations"`
}

// Observed is a conversation that is or was observed.
type Observed struct {
	Handle       agent.Handle      `json:"handle"`                 // "" for a session of a keyed conversation
	Conversation conversations.Key `json:"conversation,omitempty"` // its key
	SessionID    agent.SessionID   `json:"session_id"`
	Observer     agent.SessionID   `json:"observer"` // "": not known yet
	State        string            `json:"state"`    // "captured", "not captured", or "synthesized" (from notes by hand)
	Observations int               `json:"observations"`
	Newest       *time.Time        `json:"newest"`
	Problem      string            `json:"problem,omitempty"` // why the observer made no progress
	ProblemAt    *time.Time        `json:"problem_at,omitempty"`
}

// NewMemoryStatus converts the progress of the observers.
func NewMemoryStatus(on []agent.Handle, chats []conversations.Key, spent int, all []memory.StatusOf) MemoryStatus {
	return MemoryStatus{On: list(on), OnConversations: list(chats), TokensToday: spent, Conversations: agent.Mapped(all, func(c memory.StatusOf) Observed {
		handle, key := named(c.Handle)
		return Observed{
			Handle: handle, Conversation: key, SessionID: c.ContentID, Observer: c.MemoryID, State: c.State(), Observations: c.Observations, Newest: timeOf(c.Newest),
			Problem: c.Problem, ProblemAt: timeOf(c.ProblemAt),
		}
	})}
}

// named returns the agent or the keyed conversation of a name under which something is remembered.
func named(name agent.Handle) (agent.Handle, conversations.Key) {
	if key, is := name.Conversation(); is {
		return "", conversations.Key(key)
	}
	return name, ""
}

// NewForgotten says that everything about an agent or a conversation was removed.
func NewForgotten(name agent.Handle, sessions, observations int) Forgotten {
	handle, key := named(name)
	return Forgotten{Handle: handle, Conversation: key, Conversations: sessions, Observations: observations}
}

// MemoryCheck is the outcome of a check of the memory.
type MemoryCheck struct {
	Whole bool     `json:"whole"`
	Found []string `json:"found"`
}

// Forgotten says what was removed from the memory.
type Forgotten struct {
	Handle        agent.Handle      `json:"handle,omitempty"`       // the agent, if everything about it was removed
	Conversation  conversations.Key `json:"conversation,omitempty"` // the key, if everything about a keyed conversation was removed
	Conversations int               `json:"conversations"`
	Observations  int               `json:"observations"`
}

// Written is a file to which the memory was written.
type Written struct {
	Path         string `json:"path"`
	Observations int    `json:"observations"` // 0: not counted
}

// Imported is the outcome of an import.
type Imported struct {
	Observations int `json:"observations"`
	Skipped      int `json:"skipped"` // observations that already existed
}

// Worked is the outcome of one round of the observers.
type Worked struct {
	Turns        int      `json:"turns"` // number of observed turns
	Observations int      `json:"observations"`
	Tokens       int      `json:"tokens"`
	Waiting      []string `json:"waiting"` // what was not observed yet, and why
}

// Briefing is what the successor of a conversation would be told.
type Briefing struct {
	Handle    agent.Handle    `json:"handle"`
	SessionID agent.SessionID `json:"session_id"`
	Text      string          `json:"text"`
	From      []string        `json:"from"` // memory, transcript
}

// NewBriefing converts a briefing for a successor.
func NewBriefing(handle agent.Handle, id agent.SessionID, text string, from brief.Source) Briefing {
	return Briefing{Handle: handle, SessionID: id, Text: text, From: list(sources(from))}
}

func sources(from brief.Source) (names []string) {
	if from.Memory {
		names = append(names, "memory")
	}
	if from.Transcript {
		names = append(names, "transcript")
	}
	return names
}
