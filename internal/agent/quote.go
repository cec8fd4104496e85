package agent

import (
	"strconv"
	"strings"
)

const quoteLimit = 80

// Quote shows foreign text in a message: on one line, escapes made harmless, cut
// at 80 bytes, so that no input can steer the reader's terminal.
func Quote(s string) string {
	if len(s) > quoteLimit {
		return strconv.Quote(s[:quoteLimit]) + "..."
	}
	return strconv.Quote(s)
}

// ShellWord is text as it can be pasted into a command line, as one word.
func ShellWord(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
