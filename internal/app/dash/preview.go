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
		heading, body = string(r.Handle)+": its screen", linesOf(m.text)
	case ConversationPreview:
		heading, body = string(r.Handle)+": its conversation", linesOf(ansi.Wrap(m.text, m.Width, ""))
	default:
		heading, body = string(r.Handle)+" asks: "+r.Ask.Title, linesOf(r.Ask.Body)
	}
	if room := height - 1; len(body) > room {
		if m.preview != NoPreview {
			body = body[len(body)-room:] // the prompt, or what was said last, is at the end
		} else {
			body = append(body[:room-1], "… the rest: nbs-worker requests "+string(r.Handle))
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

// linesOf splits a text. A tab has no width of its own.
func linesOf(text string) []string {
	return strings.Split(strings.TrimRight(strings.ReplaceAll(text, "\t", "    "), "\n "), "\n")
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
		return "send " + string(m.about.Handle) + ": " + human.Legible(m.input)
	case m.mode == dismissing:
		return m.paint(yellow, "remove "+string(m.about.Handle)+"? its transcript stays (y, or any other key)")
	case m.said != "" && m.failed:
		return m.paint(red, human.OneLine(human.Legible(m.said)))
	case m.said != "":
		return human.OneLine(human.Legible(m.said))
	case r == nil:
		return m.paint(dim, "/ filter  ? help  q quit")
	case m.preview != NoPreview:
		return m.paint(dim, "space next view  esc close  enter attach  s send  tab next  ? help  q quit")
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
		"enter           go to its terminal; the tmux prefix and d come back, or the",
		"                prefix and L if the dashboard is in the same tmux server",
		"space           its screen, its conversation, neither",
		"esc             close that, and forget the filter",
		"1 2 3 4         sort by need, name, context left, cost",
		"/               filter            s           send it a message",
		"y N             approve, deny what is shown",
		"r R             resume, recover   x           stop",
		"i               interrupt         d           dismiss (asks)",
		"?               this              q           quit",
		"A click selects, the wheel moves. Shift and the mouse select text.",
		"",
		"NEED is why it needs you: waits (for an answer), down (it does not run),",
		"short (of context, or of a usage limit), done (its turn has ended).",
		"",
		m.paint(dim, "any key goes back"),
	}
}
