package standin

import (
	"fmt"
	"strings"
)

// draw paints the last lines that fit, from the top left corner.
func draw(cols, rows int, lines []string) {
	var wrapped []string
	for _, line := range lines {
		wrapped = append(wrapped, wrap(line, cols)...)
	}
	if extra := len(wrapped) - rows; extra > 0 {
		wrapped = wrapped[extra:]
	}
	var b strings.Builder
	b.WriteString("\x1b[?25l\x1b[H")
	for i, line := range wrapped {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(line + "\x1b[K")
	}
	b.WriteString("\x1b[J\x1b[?25h")
	fmt.Print(b.String())
}

// wrap cuts a text into lines of at most cols characters.
func wrap(text string, cols int) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		runes := []rune(line)
		for len(runes) > cols {
			lines = append(lines, string(runes[:cols]))
			runes = runes[cols:]
		}
		lines = append(lines, string(runes))
	}
	return lines
}

// screen is the whole picture of an agent at its prompt.
func (u *tui) screen(cols int) []string {
	rule := strings.Repeat("─", cols)
	lines := append(u.header(), u.said...)
	if u.asking != nil {
		return append(lines, rule, " Bash command", "", "   "+u.asking.command, "", " Do you want to proceed?",
			" ❯ 1. Yes", "   2. No", "", " Esc to cancel · Tab to amend")
	}
	if u.cancel != nil {
		lines = append(lines, "", u.working)
	}
	for i, text := range u.queue {
		lines = append(lines, "  ❯ "+text)
		if i == len(u.queue)-1 {
			lines = append(lines, "❯ Press up to edit queued messages")
		}
	}
	chip := "◐ medium · /effort"
	lines = append(lines, strings.Repeat(" ", max(0, cols-len([]rune(chip))-2))+chip, rule)
	lines[len(lines)-1] = named(rule, u.s.opts.name)
	return append(append(lines, box(string(u.input), cols)...), rule, u.footer())
}

// named is the rule above the box, with the name that the user gave to the session.
func named(rule, name string) string {
	dashes := []rune(rule)
	if name == "" || len(dashes) < len(name)+4 {
		return rule
	}
	return string(dashes[:len(dashes)-len(name)-3]) + " " + name + " ─"
}

// box is what is typed, as it stands between the rules.
func box(input string, cols int) (lines []string) {
	for i, line := range wrap(input, cols-3) {
		lines = append(lines, []string{"❯ ", "  "}[min(i, 1)]+line)
	}
	return lines
}

func (u *tui) header() []string {
	return []string{
		" ▐▛███▛█   Claude Code v" + u.s.whims.version,
		"▝▜██████▀  " + u.s.model + " · API Usage Billing",
		" ▝▝   ▝▝   " + u.s.cwd,
		"",
	}
}

func (u *tui) footer() string {
	names := map[string]string{
		"bypassPermissions": "⏵⏵ bypass permissions on", "acceptEdits": "⏵⏵ accept edits on", "auto": "⏵⏵ auto mode on",
		"plan": "⏸ plan mode on", "dontAsk": "⏵⏵ don't ask on",
	}
	name := names[u.s.mode()]
	if name == "" {
		name = "⏸ manual mode on"
	}
	if u.cancel != nil {
		return "  " + name + " · esc to interrupt"
	}
	if !u.s.loggedIn() {
		run := map[bool]string{true: "Run", false: "run"}[u.s.whims.old()]
		return fmt.Sprintf("  %-88sNot logged in · %s /login", name, run)
	}
	return "  " + name + " · ? for shortcuts"
}
