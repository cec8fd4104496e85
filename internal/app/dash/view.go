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
	lines = append(lines, m.preview()...)
	for len(lines) < m.Height-1 {
		lines = append(lines, "")
	}
	lines = lines[:max(0, m.Height-1)]
	return m.fit(append(lines, m.footer()))
}

// fit cuts lines to the screen.
func (m *Model) fit(lines []string) string {
	lines = lines[:min(len(lines), m.Height)]
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, m.Width, "…")
	}
	return strings.Join(lines, "\n")
}

func (m *Model) header() string {
	need := 0
	for i := range m.rows {
		if m.rows[i].Need != nil {
			need++
		}
	}
	text := human.Count(len(m.rows), "agent")
	switch need {
	case 0:
		text += ", nobody needs you"
	case 1:
		text += ", 1 needs you"
	default:
		text += fmt.Sprintf(", %d need you", need)
	}
	if m.filter != "" {
		text += fmt.Sprintf(" · /%s: %d", human.Legible(m.filter), len(m.shown))
	}
	if m.Limits != "" {
		text += " · " + m.Limits
	}
	return m.paint(bold, text)
}

// previewHeight is how many lines the preview has, with its heading; 0: it is closed.
func (m *Model) previewHeight() int {
	r := m.Selected()
	if !m.peek && (r == nil || r.Ask == nil) || m.Height < 12 {
		return 0
	}
	return m.Height / 2
}

// tableHeight is how many rows are on the screen.
func (m *Model) tableHeight() int {
	const others = 3 // header, names of the columns, footer
	return max(1, m.Height-others-m.previewHeight())
}

// table returns the names of the columns, and the rows around the selected one.
func (m *Model) table() []string {
	widths := m.widths()
	lines := []string{m.paint(dim, columns(widths, "HANDLE", "NEED", "STATE", "SINCE", "CONTEXT", "COST", "WHAT"))}
	if len(m.rows) == 0 {
		return append(lines, "no agents; start one: nbs-worker spawn HANDLE")
	}
	height := m.tableHeight()
	first := max(0, min(m.at-height/2, len(m.shown)-height))
	for i := first; i < min(first+height, len(m.shown)); i++ {
		lines = append(lines, m.row(&m.rows[m.shown[i]], widths, i == m.at))
	}
	return lines
}

// widths are those of all columns but the last.
type widths [6]int

func (m *Model) widths() widths {
	w := widths{6, 5, 8, 5, 7, 6}
	for i := range m.rows {
		w[0] = max(w[0], min(len(m.rows[i].Handle), 24))
		w[5] = max(w[5], len(m.rows[i].Cost))
	}
	if m.Width < 60 { // a small screen shows who needs what
		w[4], w[5] = 0, 0
	}
	return w
}

// columns returns cells beside each other. One whose width is 0 is left out.
func columns(w widths, cells ...string) string {
	var line strings.Builder
	for i, width := range w {
		if width > 0 {
			cell := ansi.Truncate(cells[i], width, "…")
			line.WriteString(cell + strings.Repeat(" ", width-ansi.StringWidth(cell)) + "  ")
		}
	}
	return line.String() + cells[len(w)]
}

func (m *Model) row(r *Row, w widths, selected bool) string {
	need, since := "", r.Since
	if r.Need != nil {
		need, since = string(r.Need.Reason), r.Need.Since
	}
	state, what := r.State, r.What
	if verb := m.running[r.Handle]; verb != "" {
		state, what = verb+"…", ""
	}
	context := ""
	if r.Left >= 0 {
		context = bar(r.Left) + fmt.Sprintf("%3d%%", r.Left)
	}
	cells := []string{string(r.Handle), need, state, m.age(since), context, r.Cost, what}
	if selected {
		line := columns(w, cells...)
		return m.paint(inverse, line+strings.Repeat(" ", max(0, m.Width-ansi.StringWidth(line))))
	}
	if r.Need != nil {
		cells[1] = m.paint(reasonColour(r.Need), cells[1])
	}
	cells[4] = m.paint(bandColour(r.Band), cells[4])
	return columns(w, cells...)
}

// bar draws what is left of the context in three characters.
func bar(left int) string {
	const cells, full = 3, 100
	n := (min(left, full)*cells + full - 1) / full
	return strings.Repeat("█", n) + strings.Repeat("░", cells-n)
}

// age returns how long ago something began, in short.
func (m *Model) age(since time.Time) string {
	if since.IsZero() {
		return ""
	}
	return human.Brief(max(0, m.Now.Sub(since)))
}

func reasonColour(need *attention.Need) string {
	switch {
	case need.Seen:
		return dim
	case need.Reason == attention.Done:
		return green
	case need.Reason == attention.Down:
		return red
	default:
		return yellow
	}
}

func bandColour(band agent.Band) string {
	switch band {
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

// preview returns the lines of the request that is asked, or of the agent's screen.
func (m *Model) preview() []string {
	height := m.previewHeight()
	if height == 0 {
		return nil
	}
	r := m.Selected()
	heading, text := "", ""
	switch {
	case m.peek && r != nil:
		heading, text = string(r.Handle)+": its screen", m.screen
	case r != nil && r.Ask != nil:
		heading, text = string(r.Handle)+" asks: "+r.Ask.Title, r.Ask.Body
	}
	lines := []string{m.paint(cyan, "── "+heading+" "+strings.Repeat("─", max(0, m.Width-ansi.StringWidth(heading)-4)))}
	body := strings.Split(strings.TrimRight(text, "\n "), "\n")
	if room := height - 1; len(body) > room {
		if m.peek {
			body = body[len(body)-room:] // the prompt is at the end
		} else {
			body = append(body[:room-1], "… the rest: nbs-worker requests "+string(r.Handle))
		}
	}
	for _, line := range body {
		line = strings.ReplaceAll(line, "\t", "    ") // a tab has no width of its own
		if !m.Color {
			line = ansi.Strip(line)
		}
		lines = append(lines, ansi.Truncate(line, m.Width, "")+m.reset())
	}
	return lines
}

// reset ends the colours of a line that is not ours.
func (m *Model) reset() string {
	if m.Color {
		return "\x1b[0m"
	}
	return ""
}

// footer returns the last line: what is typed or asked, what a verb said, or the keys of the selected row.
func (m *Model) footer() string {
	r := m.Selected()
	switch {
	case m.mode == filtering:
		return "/" + human.Legible(m.input)
	case m.mode == sending:
		return "send " + string(m.about) + ": " + human.Legible(m.input)
	case m.mode == dismissing:
		return m.paint(yellow, "remove "+string(m.about)+"? its transcript stays (y, or any other key)")
	case m.said != "" && m.failed:
		return m.paint(red, human.OneLine(human.Legible(m.said)))
	case m.said != "":
		return human.OneLine(human.Legible(m.said))
	case r == nil:
		return m.paint(dim, "/ filter  ? help  q quit")
	case r.Ask != nil && r.Ask.Plain:
		return m.paint(dim, "y approve  N deny  enter attach  space screen  tab next  ? help  q quit")
	case r.Need != nil && r.Need.Reason == attention.Down:
		return m.paint(dim, "r resume  R recover  d dismiss  tab next  ? help  q quit")
	}
	return m.paint(dim, "enter attach  space screen  s send  i interrupt  x stop  tab next  ? help")
}

func (m *Model) help() []string {
	return []string{
		m.paint(bold, "Keys"),
		"j k, arrows     move              g G         first, last",
		"tab             next that needs you",
		"enter           go to its terminal; the tmux prefix and d come back",
		"space           its screen        esc         close, and forget the filter",
		"/               filter            s           send it a message",
		"y N             approve, deny what is shown",
		"r R             resume, recover   x           stop",
		"i               interrupt         d           dismiss (asks)",
		"?               this              q           quit",
		"",
		"NEED is why it needs you: waits (for an answer), down (it does not run),",
		"short (of context, or of a usage limit), done (its turn has ended).",
		"",
		m.paint(dim, "any key goes back"),
	}
}
