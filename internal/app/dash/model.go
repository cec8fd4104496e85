package dash

import (
	"strings"
	"time"

	"nbs-worker/internal/agent"
)

// Model is what the screen shows. Its methods return the next model; they do nothing else.
type Model struct {
	Width, Height int // of the screen, in characters
	Now           time.Time
	Color         bool

	rows     []Row // sorted
	shown    []int // of rows, those that the filter leaves
	selected agent.Handle
	at       int // of the selected row in shown
	filter   string

	mode   mode
	input  string       // of a line that is typed
	about  agent.Handle // whom a message or a dismissal is for, though its row may go meanwhile
	peek   bool         // the preview is open
	screen string       // of the selected agent, several lines

	askedAt time.Time // when the selected agent began to ask something else

	running map[agent.Handle]string // the verb that runs, by agent
	said    string                  // what a verb said last
	failed  bool                    // it was an error
	Limits  string                  // of the account
}

// mode is what keys do.
type mode int

const (
	browsing mode = iota
	helping
	filtering
	sending    // a message is typed
	dismissing // y dismisses
)

// Rows takes a new look at the agents. The selection stays at its agent, or where that agent was.
func (m Model) Rows(rows []Row) Model {
	before := m.askOf(m.selected)
	order(rows)
	m.rows = rows
	if now := m.askOf(m.selected); now != "" && now != before {
		m.askedAt = m.Now
	}
	return m.refilter()
}

// askOf returns the id of what an agent asks; "" for nothing.
func (m *Model) askOf(handle agent.Handle) string {
	for i := range m.rows {
		if r := &m.rows[i]; r.Handle == handle && r.Ask != nil {
			return r.Ask.ID
		}
	}
	return ""
}

func (m Model) refilter() Model {
	m.shown = nil
	found := false
	for i := range m.rows {
		if !m.rows[i].matches(m.filter) {
			continue
		}
		if m.rows[i].Handle == m.selected {
			m.at, found = len(m.shown), true
		}
		m.shown = append(m.shown, i)
	}
	if !found {
		m = m.selectAt(m.at)
	}
	return m
}

// selectAt selects a row by its place.
func (m Model) selectAt(at int) Model {
	m.at = max(0, min(at, len(m.shown)-1))
	before := m.selected
	if len(m.shown) == 0 {
		return m // the agent stays selected while the filter hides it
	}
	m.selected = m.rows[m.shown[m.at]].Handle
	if m.selected != before {
		m.screen = ""
	}
	return m
}

// Selected returns the selected row; nil if there are no rows.
func (m *Model) Selected() *Row {
	if m.at >= len(m.shown) {
		return nil
	}
	return &m.rows[m.shown[m.at]]
}

// Peeks returns the agent whose screen is shown; "" for none.
func (m *Model) Peeks() agent.Handle {
	if r := m.Selected(); m.peek && r != nil {
		return r.Handle
	}
	return ""
}

// Screen takes the screen of an agent.
func (m Model) Screen(handle agent.Handle, text string) Model {
	if handle == m.Peeks() {
		m.screen = text
	}
	return m
}

// Begun notes that a verb runs for an agent.
func (m Model) Begun(handle agent.Handle, verb string) Model {
	running := map[agent.Handle]string{handle: verb}
	for other, what := range m.running {
		if other != handle {
			running[other] = what
		}
	}
	m.running = running
	return m
}

// Ended takes what a verb said, of several lines, and whether it failed.
func (m Model) Ended(handle agent.Handle, said string, failed bool) Model {
	running := map[agent.Handle]string{}
	for other, what := range m.running {
		if other != handle {
			running[other] = what
		}
	}
	m.running = running
	m.said, m.failed = strings.TrimSpace(said), failed
	return m
}
