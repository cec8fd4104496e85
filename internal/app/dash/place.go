package dash

import (
	"cmp"
	"slices"
	"time"

	"nbs-worker/internal/host"
	"nbs-worker/internal/human"
)

// Unreachable begins the trouble of a place that does not answer.
const Unreachable = "unreachable"

// Silent is the trouble of a place that is connected, and gives no sign of life.
const Silent = "silent"

// Place is a host, and whether its rows are true now.
type Place struct {
	Host    string
	Trouble string    // why its rows are of another time, in words; "": they are true now
	AsOf    time.Time // when they were true; zero: it has never shown any
	Coming  bool      // it has not answered the dashboard yet, and has not failed to
	Limits  string    // of the account there, in words

	Selected Who     // the agent there that is selected
	Journal  []event // its last ones
}

// place returns what is known of a host; of this machine, that its rows are true.
func (m *Model) place(host string) *Place {
	for i := range m.sight.Places {
		if p := &m.sight.Places[i]; p.Host == host {
			return p
		}
	}
	return &Place{}
}

// hasRows reports whether there is a row of a host.
func (s *Sight) hasRows(host string) bool {
	for i := range s.Rows {
		if s.Rows[i].Host == host {
			return true
		}
	}
	return false
}

// prefixed returns a text behind another; "" for none.
func prefixed(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// isArriving reports whether a host has yet to answer.
func (s *Sight) isArriving() bool {
	return slices.ContainsFunc(s.Places, func(p Place) bool { return p.Coming })
}

// heading returns the line above the rows of a group.
func (m *Model) heading(g group) string {
	if g.host == "" && len(m.sight.Places) == 0 {
		return m.paint(bold, human.Legible(g.project))
	}
	title := cmp.Or(g.host, host.Here)
	if g.project != "" {
		title += " " + human.Legible(g.project)
	}
	p := m.place(g.host)
	switch {
	case p.Trouble == "" && !m.sight.hasRows(g.host):
		return m.paint(bold, title) + m.paint(dim, ": no agents")
	case p.Trouble == "":
		return m.paint(bold, title) + m.paint(dim, prefixed("  ", p.Limits))
	case p.AsOf.IsZero():
		return m.paint(bold, title) + m.paint(yellow, ": "+p.Trouble)
	}
	return m.paint(bold, title) + m.paint(yellow, ": "+p.Trouble+"; as it was "+human.Ago(p.AsOf, m.Now))
}
