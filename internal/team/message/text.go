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

// isTypable reports whether a text arrives unchanged when it is typed. Claude drops tabs, control characters and most
// invisible characters; with some of them it submits nothing. tmux drops what exceeds the space of one character's
// cell.
func isTypable(text string) bool {
	return utf8.ValidString(text) && len(utf16.Encode([]rune(text))) <= typedCharacters && longestCell(text) <= cellBytes &&
		!hasUntypable(text) && !strings.Contains(strings.ToLower(text), pasteMark)
}

// hasUntypable reports whether Claude would drop a character of a text, or refuse the text because of it.
func hasUntypable(text string) bool {
	before := ' '
	for i, r := range text {
		after, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
		switch {
		case r == '\n':
		case isJoiner(r):
			if !joins(before) || !joins(after) {
				return true
			}
		case r >= firstEmojiStyle && r <= '\ufe0f':
			if before < firstSymbol && !strings.ContainsRune("0123456789#*", before) {
				return true
			}
		case !unicode.IsGraphic(r), transcript.IsHidden(r):
			return true
		}
		before = r
	}
	return false
}

const (
	firstSymbol     = '\u00a9' // the first one with a picture: the copyright sign
	firstEmojiStyle = '\ufe0e'
)

func isJoiner(r rune) bool { return r == '\u200c' || r == '\u200d' }

// joins reports whether Claude keeps a joiner beside a character: a picture, its tone or style, or a character of a
// script that needs joiners.
func joins(r rune) bool {
	const firstTone, lastTone = '\U0001f3fb', '\U0001f3ff'
	return r == '\ufe0f' || r >= firstTone && r <= lastTone ||
		unicode.In(r, unicode.So, unicode.Arabic, unicode.Devanagari, unicode.Bengali, unicode.Malayalam)
}

// cellBytes is the space in a cell of tmux 3.3a.
const cellBytes = 21

// longestCell returns the size in bytes of the longest character of a text, with all characters that join it.
func longestCell(text string) int {
	longest, cell, joined := 0, 0, false
	for _, r := range text {
		const joiner, firstTone, lastTone = '\u200d', '\U0001f3fb', '\U0001f3ff'
		if !joined && !unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) && (r < firstTone || r > lastTone) {
			cell = 0
		}
		cell += utf8.RuneLen(r)
		joined = r == joiner
		longest = max(longest, cell)
	}
	return longest
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
