package human

import (
	"fmt"
	"strconv"
	"strings"
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

// Cut shortens a text to a size, and shows that it was longer. size is the size of a character: utf8.RuneLen for
// bytes, utf16.RuneLen, or [Letter].
func Cut(text string, limit int, size func(rune) int) string {
	const mark = '…'
	if Prefix(text, limit, size) == len(text) {
		return text
	}
	return text[:Prefix(text, limit-size(mark), size)] + string(mark)
}

// Prefix returns how many bytes of a text have at most a size, in whole characters.
func Prefix(text string, limit int, size func(rune) int) int {
	for at, r := range text {
		if limit -= size(r); limit < 0 {
			return at
		}
	}
	return len(text)
}

// Letter counts each character as one.
func Letter(rune) int { return 1 }

// OneLine joins the words of a text with single spaces.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

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
