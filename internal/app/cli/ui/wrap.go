package ui

import (
	"strings"

	"github.com/clipperhouse/displaywidth"

	"nbs-worker/internal/human"
)

// wrapped breaks a text at spaces into lines of at most width columns. A longer word is broken after a slash or, if it
// must, anywhere.
func wrapped(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.SplitSeq(text, " ") { // repeated spaces stay
		if line != "" && columns(line)+1+columns(word) <= width {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for line = word; columns(line) > width; {
			head := line[:max(human.Prefix(line, width, displaywidth.Rune), human.Prefix(line, 1, human.Letter))]
			if slash := strings.LastIndexByte(head, '/'); slash > 0 {
				head = head[:slash+1]
			}
			lines, line = append(lines, head), line[len(head):]
		}
	}
	return append(lines, line)
}

func columns(text string) int {
	if isPlain(text) {
		return len(text)
	}
	return displaywidth.String(text)
}

// Hanging wraps a text to width columns (0: any width), and indents all lines after the first. A command at the end of
// the text gets its own line, unbroken for pasting.
func Hanging(text string, indent, width int) string {
	const least, command = 20, ": nbs-worker " // columns of text
	if width <= 0 || indent+columns(text) <= width {
		return text
	}
	margin := "\n" + strings.Repeat(" ", indent)
	before, rest, hasCommand := strings.Cut(text, command)
	switch {
	case strings.HasPrefix(text, command[len(": "):]):
		return text
	case hasCommand:
		before, rest = before+":", margin+command[len(": "):]+rest
	}
	return strings.Join(wrapped(before, max(least, width-indent)), margin) + rest
}
