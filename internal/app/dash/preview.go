package dash

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"nbs-worker/internal/human"
	"nbs-worker/internal/team/attention"
)

// previewLines returns what is shown of the selected agent: the request that it asks, its screen, or its conversation.
func (m *Model) previewLines() []string {
	height, r := m.previewHeight(), m.Selected()
	if height == 0 || r == nil {
		return nil
	}
	var heading string
	var body []string
	switch m.preview {
	case ScreenPreview:
		heading, body = r.name()+": its screen", linesOf(m.text)
	case ConversationPreview:
		heading, body = r.name()+": its conversation", linesOf(ansi.Wrap(withoutTabs(m.text), m.Width, ""))
	default:
		heading, body = r.name()+" asks: "+r.Ask.Title, m.request(r.Ask)
	}
	if room := height - 1; len(body) > room {
		if m.preview != NoPreview {
			body = body[len(body)-room:] // the prompt, or what was said last, is at the end
		} else {
			body = append(body[:room-1], m.paint(yellow, "… the rest: nbs-worker requests "+r.name()))
		}
	}
	lines := []string{m.rule(heading)}
	for _, line := range body {
		if !m.Color {
			line = ansi.Strip(line)
		}
		lines = append(lines, ansi.Truncate(line, m.Width, "")+m.reset())
	}
	return lines
}

// request returns the lines of a request, and at most one more than the screen has. A line that is wider than the screen
// goes on indented, so that nothing in it looks like another line.
func (m *Model) request(ask *Ask) (lines []string) {
	const indent = "  "
	for _, line := range linesOf(ask.Body) {
		if len(lines) > m.Height {
			break
		}
		for i, part := range strings.Split(ansi.Hardwrap(line, max(1, m.Width-len(indent)), true), "\n") {
			if i > 0 {
				part = indent + part
			}
			lines = append(lines, part)
		}
	}
	return lines
}

// showsWhole reports whether the screen shows all of what the selected agent asks.
func (m *Model) showsWhole(ask *Ask) bool { return len(m.request(ask)) < m.previewHeight() }

// linesOf splits a text.
func linesOf(text string) []string {
	return strings.Split(strings.TrimRight(withoutTabs(text), "\n "), "\n")
}

// withoutTabs replaces tabs, which have no width of their own.
func withoutTabs(text string) string { return strings.ReplaceAll(text, "\t", "    ") }

// reset ends the colours of a line that is not ours.
func (m *Model) reset() string {
	if m.Color {
		return "\x1b[0m"
	}
	return ""
}

// footer returns the last lines: what is typed or asked, what a verb said, or the keys of the selected row.
func (m *Model) footer() []string {
	switch {
	case m.mode == filtering:
		return []string{m.typing("/")}
	case m.mode == sending:
		return []string{m.typing("send " + m.about.name() + ": ")}
	case m.mode == dismissing:
		return []string{m.paint(yellow, "remove "+m.about.name()+"? its transcript stays (y, or any other key)")}
	case m.mode == approving:
		return []string{m.paint(yellow, "approve what is not shown whole? (y, or any other key)")}
	case m.said != "":
		return m.saying()
	}
	return []string{m.keys()}
}

// typing returns a line that is typed: its end, if the screen has no room for all of it.
func (m *Model) typing(prompt string) string {
	text := human.Legible(m.input)
	if over := ansi.StringWidth(prompt+text) - m.Width; over > 0 {
		text = ansi.TruncateLeft(text, over+1, "…")
	}
	return prompt + text
}

// saying returns what a verb said: its error, and what helps.
func (m *Model) saying() []string {
	const most = 5
	lines := linesOf(ansi.Wrap(withoutTabs(human.Legible(m.said)), m.Width, ""))
	if room := max(1, min(most, m.Height/3)); len(lines) > room {
		lines = append(lines[:room-1], lines[room-1]+" …")
	}
	if m.failed {
		for i := range lines {
			lines[i] = m.paint(red, lines[i])
		}
	}
	return lines
}

// keys returns the most useful keys of the selected row.
func (m *Model) keys() string {
	r := m.Selected()
	switch {
	case r == nil:
		return m.paint(dim, "/ filter  ? help  q quit")
	case m.preview != NoPreview:
		return m.paint(dim, "space next view  esc close  enter attach  s send  tab next  ? help  q quit")
	case r.Ask != nil && r.Ask.Plain:
		return m.paint(dim, "y approve  N deny  enter attach  space screen  tab next  ? help  q quit")
	case r.Need != nil && r.Need.Reason == attention.Down:
		return m.paint(dim, "r resume  R recover  d dismiss  tab next  ? help  q quit")
	case r.Need != nil && r.Need.Reason == attention.Done:
		return m.paint(dim, "D changes  enter attach  space screen  s send  x stop  tab next  ? help  q quit")
	}
	return m.paint(dim, "enter attach  space screen  s send  i interrupt  tab next  ? help  q quit")
}

func (m *Model) help() []string {
	again := ""
	if len(m.sight.Places) > 0 {
		again = "t               ask the hosts again that do not answer"
	}
	return []string{
		m.paint(bold, "Keys"),
		"j k, arrows     move              g G         first, last",
		"tab             next that needs you",
		"enter           go to its terminal; tmux says there which keys come back",
		"space           its screen, its conversation, neither",
		"D               what it has changed, in your pager",
		"esc             close that, and forget the filter",
		"1 2 3 4         sort by need, name, context left, cost",
		"/               filter            s           send it a message",
		"y N             approve, deny what is shown",
		"r R             resume, recover   x           stop",
		"i               interrupt         d           dismiss (asks)",
		"?               this              q           quit",
		"A click selects, the wheel moves. Shift and the mouse select text.",
		again,
		"NEED is why it needs you: waits (for an answer), down (it does not run),",
		"short (of context, or of a usage limit), done (its turn has ended).",
		"",
		m.paint(dim, "any key goes back"),
	}
}
