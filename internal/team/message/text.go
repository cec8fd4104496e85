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

// normal is a text as Claude writes it down: composed (NFC), and without the space around it, which
// includes byte order marks.
func normal(text string) string {
	return strings.TrimFunc(norm.NFC.String(text), func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
}

// typedCharacters is how much is typed at most, in UTF-16: Claude takes a burst of more than 800 characters
// for a paste, and tells the model that the user has pasted it.
const typedCharacters = 780

// pasteMark is the tag that Claude puts around what was pasted. One that is typed gets a backslash.
const pasteMark = "pasted_content"

// isTypable reports whether a text arrives as it is when it is typed. Claude drops tabs and control
// characters, and most characters that show nothing; of some it submits nothing at all. tmux drops what is more than a
// character's cell has room for.
func isTypable(text string) bool {
	return utf8.ValidString(text) && len(utf16.Encode([]rune(text))) <= typedCharacters && longestCell(text) <= cellBytes &&
		!hasUntypable(text) && !strings.Contains(strings.ToLower(text), pasteMark)
}

// hasUntypable reports whether Claude would drop a character of a text, or not take the text because of it.
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
	firstSymbol     = '\u00a9' // that has a picture: the copyright sign
	firstEmojiStyle = '\ufe0e'
)

func isJoiner(r rune) bool { return r == '\u200c' || r == '\u200d' }

// joins reports whether Claude keeps a joiner beside a character: a picture, with its tone and style, or one of a script
// that needs joiners.
func joins(r rune) bool {
	const firstTone, lastTone = '\U0001f3fb', '\U0001f3ff'
	return r == '\ufe0f' || r >= firstTone && r <= lastTone ||
		unicode.In(r, unicode.So, unicode.Arabic, unicode.Devanagari, unicode.Bengali, unicode.Malayalam)
}

// cellBytes is what a cell of tmux 3.3a has room for.
const cellBytes = 21

// longestCell is the size in bytes of the longest character of a text, with all that is joined to it.
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

// fits reports whether a box on a screen shows the whole of a text: what it does not show cannot be
// compared.
func fits(text string, shown tmux.Styled) bool {
	const others, margin = 10, 6 // lines and columns of Claude's own
	lines := 0
	for line := range strings.Lines(text) {
		lines += 1 + columns(line)/max(1, shown.Width-margin)
	}
	return lines <= shown.Height-others
}

// columns is the largest width that a line may have.
func columns(line string) int {
	wide := 0
	for _, r := range line {
		if wide++; r > unicode.MaxLatin1 {
			wide++
		}
	}
	return wide
}
