package dash

import (
	"strings"
	"time"
)

// Model is what the screen shows. Its methods return the next model; they do nothing else.
type Model struct {
	Width, Height int // of the screen, in characters
	Now           time.Time
	Color         bool
	Grouped       bool // rows stand under the folders of their projects, and under their hosts

	sight    Sight // its rows are sorted
	shown    []int // of the rows, those that the filter leaves
	lines    []line
	selected Who
	at       int // of the selected row in shown
	filter   string
	sorting  sorting
	usage    map[Who]Usage

	mode    mode
	input   string // of a line that is typed
	about   Who    // whom a message or a dismissal is for, though its row may go meanwhile
	preview Preview
	text    string // of the preview, several lines

	askedAt time.Time // when the request on the screen became another one, without a key
	looked  bool      // there was a look
	touched bool      // the user has pressed a key, or used the mouse
	movedAt time.Time // when another agent was selected, without a key
	alarm   bool      // an agent has begun to need a person

	running map[Who]string // the verb that runs, by agent
	said    string         // what a verb said last
	failed  bool           // it was an error
}

// line is a line of the table: a row, or the heading of a group.
type line struct {
	at    int // in shown; negative: a heading
	group group
}

// Preview is what is shown of the selected agent below the rows.
type Preview int

// The previews, in the order in which a key goes through them.
const (
	NoPreview Preview = iota
	ScreenPreview
	ConversationPreview
	previews
)

// mode is what keys do.
type mode int

const (
	browsing mode = iota
	helping
	filtering
	sending    // a message is typed
	dismissing // y dismisses
	approving  // y approves a request that is not shown whole; its id is the input
)

// Look takes a new look at the agents. The selection stays at its agent, or where that agent was. While hosts answer for
// the first time it is the first row, until a key is pressed: which of them is the first to answer does not matter then.
func (m Model) Look(sight Sight) Model {
	before, shown := m.sight, m.shownAsk()
	order(sight.Rows, m.sorting, m.Grouped)
	m.sight = sight
	m.alarm = m.looked && sight.isAlarming(before.Rows)
	if sight.Trouble != "" && sight.Trouble != before.Trouble {
		m.said, m.failed = sight.Trouble, true
	}
	selected := m.selected
	if !m.touched && before.isArriving() {
		m.selected, m.at = Who{}, 0
	}
	m = m.refilter()
	if m.looked && m.selected != selected {
		m.movedAt = m.Now
	}
	if now := m.shownAsk(); m.looked && now != "" && now != shown {
		m.askedAt = m.Now
	}
	m.looked = true
	return m
}

// Alarms reports whether the last look showed a new need.
func (m *Model) Alarms() bool { return m.alarm }

// isAlarming reports whether a row has a need that the rows before do not have.
func (s *Sight) isAlarming(before []Row) bool {
	last := map[Who]*Row{}
	for i := range before {
		last[before[i].Who] = &before[i]
	}
	for i := range s.Rows {
		if r := &s.Rows[i]; r.Need != nil && !r.Need.Seen && r.hasNewNeed(last[r.Who]) {
			return true
		}
	}
	return false
}

// hasNewNeed reports whether a row's need is not the one that it had in the look before; before is nil for a new row. A
// time that is computed from an age differs a little with each look.
func (r *Row) hasNewNeed(before *Row) bool {
	const little = 2 * time.Second
	return before == nil || before.Need == nil || before.Need.Reason != r.Need.Reason || r.Need.Since.Sub(before.Need.Since) > little ||
		r.Ask != nil && before.Ask != nil && before.Ask.ID != r.Ask.ID
}

// Use takes what the agents use of the machine.
func (m Model) Use(usage map[Who]Usage) Model {
	m.usage = usage
	return m
}

// shownAsk returns the id of what the selected agent asks; "" for nothing.
func (m *Model) shownAsk() string {
	if r := m.Selected(); r != nil && r.Ask != nil {
		return r.Ask.ID
	}
	return ""
}

func (m Model) sorted(by sorting) Model {
	m.sorting = by
	order(m.sight.Rows, by, m.Grouped)
	return m.refilter()
}

func (m Model) refilter() Model {
	m.shown, m.lines = nil, nil
	found, last := false, group{}
	for i := range m.sight.Rows {
		r := &m.sight.Rows[i]
		if !r.matches(m.filter) {
			continue
		}
		if r.Who == m.selected {
			m.at, found = len(m.shown), true
		}
		if m.Grouped && (len(m.shown) == 0 || r.group() != last) {
			m.lines = append(m.lines, line{-1, r.group()})
		}
		last = r.group()
		m.lines = append(m.lines, line{len(m.shown), last})
		m.shown = append(m.shown, i)
	}
	for i := range m.sight.Places {
		if p := &m.sight.Places[i]; !m.sight.hasRows(p.Host) {
			m.lines = append(m.lines, line{-1, group{host: p.Host}})
		}
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
	m.selected = m.rowAt(m.at).Who
	if m.selected != before {
		m.text = ""
	}
	return m
}

func (m *Model) rowAt(at int) *Row { return &m.sight.Rows[m.shown[at]] }

// Selected returns the selected row; nil if there are no rows.
func (m *Model) Selected() *Row {
	if m.at >= len(m.shown) {
		return nil
	}
	return m.rowAt(m.at)
}

// Previewed returns the agent that the preview shows, and what it shows of it; NoPreview without a preview.
func (m *Model) Previewed() (Who, Preview) {
	if r := m.Selected(); m.preview != NoPreview && r != nil {
		return r.Who, m.preview
	}
	return Who{}, NoPreview
}

// Show takes the text of a preview of an agent.
func (m Model) Show(of Who, preview Preview, text string) Model {
	if who, now := m.Previewed(); now != NoPreview && who == of && now == preview {
		m.text = text
	}
	return m
}

// Begun notes that a verb runs for an agent.
func (m Model) Begun(who Who, verb string) Model {
	running := map[Who]string{who: verb}
	for other, what := range m.running {
		if other != who {
			running[other] = what
		}
	}
	m.running = running
	return m
}

// Ended takes what a verb said, of several lines, and whether it failed.
func (m Model) Ended(who Who, said string, failed bool) Model {
	running := map[Who]string{}
	for other, what := range m.running {
		if other != who {
			running[other] = what
		}
	}
	m.running = running
	m.said, m.failed = strings.TrimSpace(said), failed
	return m
}
