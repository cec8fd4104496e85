package watch

import (
	"slices"
	"time"

	"nbs-worker/internal/agent"
)

// State is what a watch keeps for the next one, however it ended: what it did in the last hour, what it reported, and
// the pending notices.
type State struct {
	Repairs []Attempt                  `json:"repairs,omitempty"` // of the last hour, oldest first
	Told    map[string]map[Kind]string `json:"told,omitempty"`    // by the agent's key: the mark of the last notice
	Pending []Notice                   `json:"pending,omitempty"` // oldest first
	ToldAt  []time.Time                `json:"told_at,omitempty"` // when notices were sent in the last hour
}

// Attempt is a begun repair.
type Attempt struct {
	At     time.Time    `json:"at"`
	Handle agent.Handle `json:"handle"`
	// Lost is the start that ended with its tmux server, if any: then the attempt counts only for the agent.
	Lost agent.Invocation `json:"lost,omitempty"`
}

// Notice is one notice for a person.
type Notice struct {
	Kind        Kind            `json:"kind"`
	At          time.Time       `json:"at"`
	Handle      agent.Handle    `json:"handle"` // "": it concerns no single agent
	Host        string          `json:"host,omitempty"`
	SessionID   agent.SessionID `json:"session_id"`
	Detail      string          `json:"detail"`
	Since       time.Time       `json:"since,omitzero"`         // of the need; zero: unknown, or it is no need
	ContextLeft *int            `json:"context_left,omitempty"` // in percent; of [Short]
	Tries       int             `json:"tries,omitempty"`        // failed ones
}

const window = time.Hour // of the limits

// forget drops entries older than the window, and entries in the future: the clock was set back.
func (m *State) forget(now time.Time) {
	late := func(at time.Time) bool { return at.After(now) || now.Sub(at) >= window }
	m.Repairs = slices.DeleteFunc(m.Repairs, func(a Attempt) bool { return late(a.At) })
	m.ToldAt = slices.DeleteFunc(m.ToldAt, late)
}

// counted returns the repairs that count toward the limit of all agents.
func (m *State) counted() []Attempt {
	return slices.DeleteFunc(slices.Clone(m.Repairs), func(a Attempt) bool { return a.Lost != "" })
}

// of returns the repairs of one agent.
func (m *State) of(handle agent.Handle) []Attempt {
	return slices.DeleteFunc(slices.Clone(m.Repairs), func(a Attempt) bool { return !a.Handle.Same(handle) })
}

// firstReport reports whether this event has not been reported for the agent, and marks it reported.
func (m *State) firstReport(handle agent.Handle, kind Kind, mark string) bool {
	if m.Told[handle.Key()][kind] == mark {
		return false
	}
	if m.Told == nil {
		m.Told = map[string]map[Kind]string{}
	}
	if m.Told[handle.Key()] == nil {
		m.Told[handle.Key()] = map[Kind]string{}
	}
	m.Told[handle.Key()][kind] = mark
	return true
}

// endReport records that an event is over for an agent: the next one like it is reported again.
func (m *State) endReport(handle agent.Handle, kind Kind) (was bool) {
	told := m.Told[handle.Key()]
	if _, was = told[kind]; was {
		delete(told, kind)
	}
	return was
}
