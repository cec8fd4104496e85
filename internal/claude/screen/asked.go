package screen

import (
	"slices"
	"strings"
	"unicode/utf8"

	"nbs-worker/internal/agent"
)

// askedIn reads a dialog without the line of its keys. It returns nil if it does not recognize the choices.
func askedIn(dialog Dialog, body []string) *agent.Asked {
	choices, above := choicesIn(dialog, body)
	if len(choices) == 0 || dialog == DialogResume {
		return nil
	}
	text := autoModeTip().ReplaceAllString(strings.Join(unwrapped(sinceRule(above), columns(body)), "\n"), "")
	return &agent.Asked{Text: shortened(text), Choices: choices}
}

// autoModeTip is an advertisement that Claude draws in the middle of a permission dialog.
var autoModeTip = pattern(`(?m)^Tip: auto mode handles these prompts for you.*\n`)

// shortened removes the middle of a long text: the tool is at its beginning, the question at its end.
func shortened(text string) string {
	const head, tail = 400, 200 // characters
	letters := []rune(text)
	if len(letters) <= head+tail {
		return text
	}
	return string(letters[:head]) + "…" + string(letters[len(letters)-tail:])
}

// unwrapped returns the texts of lines, each joined with the next if the terminal has wrapped it. It leaves out
// decorations, and a part of the key that Claude shows.
func unwrapped(lines []string, width int) []string {
	var joined []string
	last := "" // line of the terminal
	for _, line := range lines {
		text := strings.TrimSpace(line)
		for _, drawn := range []string{"│", "☐"} { // beside a command, and before the title of a question
			text = strings.TrimSpace(strings.TrimPrefix(text, drawn))
		}
		switch n := len(joined); {
		case strings.Trim(text, "─╌▔") == "":
			line = ""
		case strings.HasPrefix(text, "ANTHROPIC_API_KEY: "):
		case n > 0 && isWrapped(last, line, width):
			joined[n-1] += " " + text
		default:
			joined = append(joined, text)
		}
		last = line
	}
	return joined
}

// columns returns the width of the terminal: that of the dialog's rule or, without a rule, of its widest line.
func columns(body []string) (width int) {
	lines := sinceRule(body)
	if n := len(body) - len(lines); n > 0 {
		return utf8.RuneCountInString(body[n-1])
	}
	for _, line := range lines {
		width = max(width, utf8.RuneCountInString(line))
	}
	return width
}

// isWrapped reports whether a line continues in the next one: the first word of the next one did not fit.
func isWrapped(line, next string, width int) bool {
	const margin = 2 // columns that a dialog leaves free on the right
	word, _, _ := strings.Cut(strings.TrimSpace(next), " ")
	return utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width-margin
}

// choicesIn returns the choices at the end of a dialog, and the lines above them.
func choicesIn(dialog Dialog, body []string) (choices, above []string) {
	width := columns(body)
	if n := len(body); n > 0 && moreLines().MatchString(body[n-1]) {
		body = body[:n-1]
	}
	begins := beginsNumbered
	answers, above := numbered(body)
	if len(answers) == 0 {
		above, begins = unnumbered(body, width)
	}
	last := ""
	for _, line := range body[len(above):] {
		text, is := begins(last, line)
		switch n := len(choices); {
		case is:
			choices = append(choices, text)
		case isRule(line) || dialog == DialogQuestion && !isWrapped(last, line, width): // a description
		case n > 0:
			choices[n-1] += " " + strings.TrimSpace(line)
		}
		last = line
	}
	return choices, above
}

func beginsNumbered(_, line string) (text string, is bool) {
	m := numberedAnswer().FindStringSubmatch(line)
	if m == nil {
		return "", false
	}
	return m[3], true
}

var cursorAnswer = pattern(`^( *)❯ (.*)$`)

// unnumbered finds the answers at the end of a dialog without numbers: one has the cursor, and the others begin in
// the same column. begins returns the text of a line with which an answer begins.
func unnumbered(body []string, width int) (above []string, begins func(last, line string) (text string, is bool)) {
	at := len(body) - 1
	for at >= 0 && !cursorAnswer().MatchString(body[at]) {
		at--
	}
	if at < 0 {
		return body, nil
	}
	margin := cursorAnswer().FindStringSubmatch(body[at])[1] + "  "
	first := at
	for first > 0 && strings.HasPrefix(body[first-1], margin) {
		first--
	}
	for _, line := range slices.Concat(body[first:at], body[at+1:]) {
		if !strings.HasPrefix(line, margin) {
			return body, nil
		}
	}
	return body[:first], func(last, line string) (string, bool) {
		if m := cursorAnswer().FindStringSubmatch(line); m != nil {
			return m[2], true
		}
		return strings.TrimSpace(line), !isWrapped(last, line, width)
	}
}
