package screen

import (
	"regexp"
	"strings"
	"sync"

	"nbs-worker/internal/agent"
)

// Reading is the content of a screen of Claude Code. A screen that is not understood has the State Unknown and no
// other field.
type Reading struct {
	State   agent.State  // Idle, Busy, Waiting, Retrying, Dead (claude has left) or Unknown
	Dialog  Dialog       // of Waiting
	Asked   *agent.Asked // of Waiting
	Retry   *agent.Retry // of Retrying
	Trouble Trouble      // of Idle

	// Unsaved is why Claude cannot write its transcript, in its own words, or "".
	Unsaved string
}

// Trouble is why the last turn of an idle claude failed.
type Trouble string

// The troubles that a screen shows for certain. Version 2.1.197 draws an error of the API
// like words of the model; there only the transcript distinguishes the two.
const (
	TroubleContextFull Trouble = "context full"
	TroubleAuth        Trouble = "auth error"
	TroubleNotLoggedIn Trouble = "not logged in"
	TroubleAPI         Trouble = "api error"
)

// FailsTurn reports whether the last turn ended with an error.
func (t Trouble) FailsTurn() bool {
	return t == TroubleContextFull || t == TroubleAuth || t == TroubleAPI
}

// Read reads a screen as tmux capture-pane -p prints it. Words prove nothing: an agent that quotes a dialog shows
// them too. Two facts count. Claude draws its own parts at the left edge, and the text of the model, a tool or the
// user further in. The end of the screen is either the input box or the dialog in its place. What does not fit is
// Unknown.
func Read(screen string) Reading {
	lines := screenLines(screen)
	if hasLeft(lines) {
		return Reading{State: agent.Dead}
	}
	if box, found := findBox(lines); found {
		reading := box.read()
		if reading.State != agent.Unknown {
			reading.Unsaved = box.unsaved()
		}
		return reading
	}
	if dialog, body := findDialog(lines); dialog != "" {
		return Reading{State: agent.Waiting, Dialog: dialog, Asked: askedIn(dialog, body)}
	}
	return Reading{State: agent.Unknown}
}

// screenLines returns the lines that are not blank, without white space at their ends.
func screenLines(screen string) []string {
	screen = strings.ReplaceAll(screen, "\u00a0", " ") // Claude's own blank behind the prompt
	var lines []string
	for line := range strings.Lines(screen) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// hasLeft recognizes the output of a claude that has left the terminal, and the text of tmux in a pane whose process
// has ended.
func hasLeft(lines []string) bool {
	if n := len(lines); n > 0 && strings.HasPrefix(lines[n-1], "Pane is dead (") {
		return true
	}
	for i := len(lines) - 1; i >= 0 && i >= len(lines)-4; i-- {
		if lines[i] == "Resume this session with:" {
			return i+1 < len(lines) && strings.HasPrefix(lines[i+1], "claude ")
		}
	}
	return false
}

// isInner reports whether a line does not begin in the first two columns, where only Claude
// itself writes.
func isInner(line string) bool { return strings.HasPrefix(line, "  ") }

// isRule reports whether a line is a rule across the screen. It may carry the session's name; a long name leaves
// little of the rule.
func isRule(line string) bool {
	const shortest = 10 // columns
	if !strings.HasPrefix(line, "─") || !strings.HasSuffix(line, "─") {
		return false
	}
	return strings.Count(line, "─") >= shortest || strings.HasSuffix(line, " ──") || strings.HasSuffix(line, " ─") // 2.1.332 ends with one
}

// box is the input box at the end of a screen, with the lines around it.
type box struct {
	above  []string // the conversation, and what claude says of its work
	text   []string // in the box
	footer []string
}

// findBox finds the box: two rules, the prompt's mark right below the first, and no other text at the left edge from
// there to the end of the screen. A terminal that was made narrower shows a rule on several lines.
func findBox(lines []string) (box, bool) {
	last := lastRule(lines)
	bottom := firstOfRules(lines, last)
	top := lastRule(lines[:max(0, bottom)])
	if top < 0 || bottom-top < 2 || !isPrompt(lines[top+1]) {
		return box{}, false
	}
	found := box{above: lines[:firstOfRules(lines, top)], text: lines[top+1 : bottom], footer: lines[last+1:]}
	for _, line := range found.text[1:] {
		if !isInner(line) {
			return box{}, false
		}
	}
	for _, line := range found.footer {
		if !isInner(line) && !isSuggestion(line) {
			return box{}, false
		}
	}
	return found, true
}

// firstOfRules returns the index of the first of the adjacent rules that end with the one
// at index last.
func firstOfRules(lines []string, last int) int {
	for last > 0 && isRule(lines[last-1]) {
		last--
	}
	return last
}

// lastRule returns the index of the last rule, or -1.
func lastRule(lines []string) int {
	for i := len(lines) - 1; i >= 0; i-- {
		if isRule(lines[i]) {
			return i
		}
	}
	return -1
}

func isPrompt(line string) bool {
	return line == "❯" || strings.HasPrefix(line, "❯ ") || line == "!" || strings.HasPrefix(line, "! ")
}

// isSuggestion recognizes a line that Claude offers below the box while a person types.
func isSuggestion(line string) bool {
	return strings.HasPrefix(line, "/") || strings.HasPrefix(line, "+ ") || strings.HasPrefix(line, "* ")
}

// pattern returns a regular expression that is compiled at its first use: most commands do not need it, and should
// not wait for it.
func pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
