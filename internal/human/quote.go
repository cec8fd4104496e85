package human

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

const quoteLimit = 80

// Quote formats foreign text for a message: on one line, with escapes made harmless and invisible characters spelled
// out, cut at 80 bytes. So no input can control the reader's terminal.
func Quote(s string) string {
	if len(s) > quoteLimit {
		return quoted(s[:quoteLimit]) + "..."
	}
	return quoted(s)
}

// Cut shortens a text to whole characters, and shows that it was longer.
func Cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}

// quoted is [strconv.Quote], but also spells out the invisible characters that Quote keeps.
func quoted(s string) string { return Legible(strconv.Quote(s)) }

// Word formats text from a file that another program may have written. A few plain words stay unchanged; anything
// else is quoted.
func Word(s string) string {
	const limit = 64
	if len(s) > limit || strings.Trim(s, " ") != s || strings.ContainsFunc(s, notPlain) {
		return Quote(s)
	}
	return s
}

func notPlain(r rune) bool {
	return r != ' ' && r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

// ShellWord quotes text as one word that can be pasted into a command line. Text with line
// breaks or tabs, or that is not legible, is in the $'...' form of bash and ksh.
func ShellWord(text string) string {
	if strings.ContainsAny(text, "\n\t") || !IsLegible(text) {
		return ansiWord(text)
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

func ansiWord(word string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(word) {
		switch c := word[i]; {
		case c == '\\' || c == '\'':
			b.WriteString(`\` + string(c))
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + "'"
}
