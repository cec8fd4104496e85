package message

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/platform/tmux"
)

// normal returns a text in the form that Claude records: composed (NFC), without leading and trailing space, which
// includes byte order marks.
func normal(text string) string {
	return strings.TrimFunc(norm.NFC.String(text), func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
}

// typedCharacters is the most that is typed, in UTF-16 units. Claude takes a burst of more than 800 characters for a
// paste, and informs the model that the user has pasted it.
const typedCharacters = 780

// pasteMark is the tag that Claude puts around pasted text. A typed one gets a backslash.
const pasteMark = "pasted_content"

// isTypable reports whether a text is known to arrive unchanged when it is typed.
func isTypable(text string) bool {
	return utf8.ValidString(text) && len(utf16.Encode([]rune(text))) <= typedCharacters &&
		!hasUntypable(text) && !strings.Contains(strings.ToLower(text), pasteMark)
}

// hasUntypable reports whether Claude may drop a character of a text, or refuse the text because of it. Claude drops
// tabs, control characters and most invisible characters; with some of them it submits nothing. It keeps a joiner or a
// variation selector only beside certain characters.
func hasUntypable(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsGraphic(r) || transcript.IsHidden(r) })
}

// fits reports whether a box on a screen shows a text completely: hidden parts cannot be compared.
func fits(text string, shown tmux.Styled) bool {
	const others, margin = 10, 6 // lines and columns that Claude uses itself
	lines := 0
	for line := range strings.Lines(text) {
		lines += 1 + columns(line)/max(1, shown.Width-margin)
	}
	return lines <= shown.Height-others
}

// columns returns the largest width that a line may have.
func columns(line string) int {
	wide := 0
	for _, r := range line {
		if wide++; r > unicode.MaxLatin1 {
			wide++
		}
	}
	return wide
}
