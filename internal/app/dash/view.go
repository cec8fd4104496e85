package dash

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/attention"
)

// The colours are the first sixteen, which follow the user's theme.
const (
	red     = "31"
	green   = "32"
	yellow  = "33"
	cyan    = "36"
	dim     = "2"
	bold    = "1"
	inverse = "7"
)

// View returns the screen: at most Height lines, none wider than Width.
func (m *Model) View() string {
	if m.Width < 1 || m.Height < 1 {
		return ""
	}
	if m.mode == helping {
		return m.fit(m.help())
	}
	lines := []string{m.header()}
	lines = append(lines, m.table()...)
	lines = append(lines, m.previewLines()...)
	journal := m.journal()
	footer := m.footer()
	room := max(0, m.Height-len(footer))
	for len(lines)+len(journal) < room {
		lines = append(lines, "")
	}
	lines = append(lines, journal...)
	return m.fit(append(lines[:min(len(lines), room)], footer...))
}

// fit cuts lines to the screen.
func (m *Model) fit(lines []string) string {
	lines = lines[:min(len(lines), m.Height)]
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, m.Width, "…")
	}
	return strings.Join(lines, "\n")
}

// Title returns the title of the terminal.
func (m *Model) Title() string {
	if need := m.needs(); need != "" {
		return "nbs-worker: " + need
	}
	return "nbs-worker"
}

// needs says how many agents need a person; "" for none.
func (m *Model) needs() string {
	need := 0
	for i := range m.sight.Rows {
		if m.sight.Rows[i].Need != nil {
			need++
		}
	}
	switch need {
	case 0:
		return ""
	case 1:
		return "1 needs you"
	}
	return fmt.Sprintf("%d need you", need)
}

func (m *Model) header() string {
	text := human.Count(len(m.sight.Rows), "agent") + ", "
	if need := m.needs(); need != "" {
		text += need
	} else {
		text += "nobody needs you"
	}
	if m.sorting != byNeed {
		text += " · by " + sortings[m.sorting]
	}
	if m.filter != "" {
		text += fmt.Sprintf(" · /%s: %d", human.Legible(m.filter), len(m.shown))
	}
	if m.sight.Limits != "" {
		text += " · " + m.sight.Limits
	}
	return m.paint(bold, text)
}

// previewHeight is how many lines the preview has, with its heading; 0: it is closed. A long request leaves a few rows.
func (m *Model) previewHeight() int {
	r := m.Selected()
	if m.preview == NoPreview && (r == nil || r.Ask == nil) || m.Height < 12 {
		return 0
	}
	const rows = 3
	height := m.Height / 2
	if m.preview == NoPreview {
		height = max(height, min(1+len(m.request(r.Ask)), m.Height-m.others()-len(m.journal())-rows))
	}
	return height
}

// others is how many lines are neither rows nor preview nor events: the header, the names of the columns, the last lines.
func (m *Model) others() int { return 2 + len(m.footer()) }

// journalLines is how many events are shown.
const journalLines = 3

// journal returns the last events, if the screen is high enough.
func (m *Model) journal() []string {
	heading, past := "last events", m.sight.Journal
	of := m.Followed()
	isFar := of.Host != ""
	if isFar {
		heading, past = heading+" of "+of.name(), nil
		if p := m.place(of.Host); p.Selected == of {
			past = p.Journal
		}
	} else if !m.showsJournal() || len(past) == 0 {
		return nil
	}
	lines := []string{m.rule(heading)}
	for _, e := range past {
		lines = append(lines, m.paint(dim, e.at.In(m.Now.Location()).Format("15:04:05")+"  "+e.text))
	}
	if isFar { // they come later, and the rows above stay where they are
		lines = append(lines, make([]string, journalLines-len(past))...)
	}
	return lines
}

func (m *Model) showsJournal() bool { return m.Height >= 30 }

// Followed returns the agent of a host that is selected, if the screen shows its events.
func (m *Model) Followed() Who {
	if r := m.Selected(); r != nil && r.Host != "" && m.showsJournal() {
		return r.Who
	}
	return Who{}
}

// rule returns a line with a heading.
func (m *Model) rule(heading string) string {
	return m.paint(cyan, "── "+heading+" "+strings.Repeat("─", max(0, m.Width-ansi.StringWidth(heading)-4)))
}

// tableHeight is how many lines of the table are on the screen.
func (m *Model) tableHeight() int {
	return max(1, m.Height-m.others()-m.previewHeight()-len(m.journal()))
}

// firstLine is the line of the table that is the first on the screen: the selected row is near the middle.
func (m *Model) firstLine() int {
	height, selected := m.tableHeight(), 0
	for i, at := range m.lines {
		if at.at == m.at {
			selected = i
		}
	}
	return max(0, min(selected-height/2, len(m.lines)-height))
}

// table returns the names of the columns, and the lines around the selected row.
func (m *Model) table() []string {
	columns := m.columns()
	names := agent.Mapped(columns, func(c column) string { return c.name })
	lines := []string{m.paint(dim, beside(columns, names))}
	if len(m.sight.Rows) == 0 && len(m.lines) == 0 {
		return append(lines, "no agents; start one: nbs-worker spawn HANDLE")
	}
	first := m.firstLine()
	for _, line := range m.lines[first:min(first+m.tableHeight(), len(m.lines))] {
		if line.at < 0 {
			lines = append(lines, m.heading(line.group))
		} else {
			lines = append(lines, m.row(m.rowAt(line.at), columns, line.at == m.at))
		}
	}
	return lines
}

func (m *Model) row(r *Row, columns []column, selected bool) string {
	cells := agent.Mapped(columns, func(c column) string { return c.of(m, r) })
	if selected {
		line := beside(columns, cells)
		return m.paint(inverse, line+strings.Repeat(" ", max(0, m.Width-ansi.StringWidth(line))))
	}
	if m.place(r.Host).Trouble != "" {
		return m.paint(dim, beside(columns, cells))
	}
	for i := range cells {
		if colour := columns[i].colour; colour != nil {
			cells[i] = m.paint(colour(r), ansi.Truncate(cells[i], columns[i].width, "…"))
		}
	}
	return beside(columns, cells)
}

// age returns how long ago something began, in short.
func (m *Model) age(since time.Time) string {
	if since.IsZero() {
		return ""
	}
	return human.Brief(max(0, m.Now.Sub(since)))
}

func reasonColour(r *Row) string {
	switch {
	case r.Need == nil:
		return ""
	case r.Need.Seen:
		return dim
	case r.Need.Reason == attention.Done:
		return green
	case r.Need.Reason == attention.Down:
		return red
	default:
		return yellow
	}
}

func bandColour(r *Row) string {
	switch r.Band {
	case agent.Low:
		return yellow
	case agent.Critical, agent.Floor:
		return red
	case agent.Healthy:
		return green
	}
	return ""
}

// paint colours a text.
func (m *Model) paint(colour, text string) string {
	if text == "" || colour == "" || !m.Color && colour != inverse {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}
