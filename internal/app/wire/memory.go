package wire

import (
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/memory"
	brief "nbs-worker/internal/team/briefing"
)

// Observation is one thing that was noticed of an agent's work.
type Observation struct {
	ID        int64           `json:"id"`
	Handle    agent.Handle    `json:"handle"`
	SessionID agent.SessionID `json:"session_id"` // of the conversation in which it was noticed
	Observer  agent.SessionID `json:"observer"`   // session id of the conversation that noticed it
	Turn      int             `json:"turn"`       // of the conversation, from 1; 0: of none
	Type      memory.Type     `json:"type"`       // decision, fix, discovery, change, open_end or question
	Title     string          `json:"title"`
	Narrative string          `json:"narrative"`
	Facts     []string        `json:"facts"`
	Files     []string        `json:"files"`
	At        *time.Time      `json:"at"` // when it was stored
}

// NewObservation converts a stored observation.
func NewObservation(o memory.Observation) Observation {
	return Observation{
		ID: o.ID, Handle: o.Handle, SessionID: o.ContentID, Observer: o.MemoryID, Turn: o.Turn, Type: o.Type, Title: o.Title, Narrative: o.Narrative,
		Facts: list(o.Facts), Files: list(o.Files), At: timeOf(o.At),
	}
}

// MemoryStatus is how far the agents of a project are observed.
type MemoryStatus struct {
	On            []agent.Handle `json:"on"`           // whose memory is on
	TokensToday   int            `json:"tokens_today"` // that the observers spent, of the present day in UTC
	Conversations []Observed     `json:"conversations"`
}

// Observed is a conversation that is observed, or was.
type Observed struct {
	Handle       agent.Handle    `json:"handle"`
	SessionID    agent.SessionID `json:"session_id"`
	Observer     agent.SessionID `json:"observer"` // "" until it is known
	State        string          `json:"state"`    // "captured", "not captured"; "synthesized" of notes by hand
	Observations int             `json:"observations"`
	Newest       *time.Time      `json:"newest"`
	Problem      string          `json:"problem,omitempty"` // why the observer did not get on
	ProblemAt    *time.Time      `json:"problem_at,omitempty"`
}

// NewMemoryStatus converts the progress of the observers.
func NewMemoryStatus(on []agent.Handle, spent int, all []memory.StatusOf) MemoryStatus {
	return MemoryStatus{On: list(on), TokensToday: spent, Conversations: agent.Mapped(all, func(c memory.StatusOf) Observed {
		return Observed{
			Handle: c.Handle, SessionID: c.ContentID, Observer: c.MemoryID, State: c.State(), Observations: c.Observations, Newest: timeOf(c.Newest),
			Problem: c.Problem, ProblemAt: timeOf(c.ProblemAt),
		}
	})}
}

// MemoryCheck is what was found of what is remembered.
type MemoryCheck struct {
	Whole bool     `json:"whole"`
	Found []string `json:"found"`
}

// Forgotten is what is no longer remembered.
type Forgotten struct {
	Handle        agent.Handle `json:"handle,omitempty"` // all that was kept of it
	Conversations int          `json:"conversations"`
	Observations  int          `json:"observations"`
}

// Written is a file into which what is remembered was written.
type Written struct {
	Path         string `json:"path"`
	Observations int    `json:"observations"` // 0: not counted
}

// Imported is what was taken over.
type Imported struct {
	Observations int `json:"observations"`
	Skipped      int `json:"skipped"` // that were there already
}

// Worked is what one round of the observers has come to.
type Worked struct {
	Turns        int      `json:"turns"` // how many were observed
	Observations int      `json:"observations"`
	Tokens       int      `json:"tokens"`
	Waiting      []string `json:"waiting"` // what is not observed yet, and why
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
