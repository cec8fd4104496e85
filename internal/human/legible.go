package human

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Legible makes foreign text safe to show. A control character becomes a question mark. A character that is invisible
// or changes the reading order is shown by its number, such as \u200b. Line breaks and tabs stay.
func Legible(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, IsUnclear) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case isControl(r):
			b.WriteByte('?')
		case isHidden(r) && !withinEmoji(text, i, r):
			b.WriteString(spelled(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// IsLegible reports whether [Legible] leaves a text unchanged.
func IsLegible(text string) bool { return Legible(text) == text }

// isControl reports whether a character is a control character other than a line break or a tab.
func isControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// IsUnclear reports whether a character is a control character, may be invisible, or may change how others are shown.
// Some of these are harmless within an emoji.
func IsUnclear(r rune) bool { return r >= utf8.RuneSelf && isHidden(r) || isControl(r) }

// blanks are characters that show nothing, although their category is letter, mark or symbol.
var blanks = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, // combining grapheme joiner
		{Lo: 0x115f, Hi: 0x1160, Stride: 1}, // Hangul fillers
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, // Khmer inherent vowels
		{Lo: 0x180b, Hi: 0x180f, Stride: 1}, // Mongolian variation selectors and vowel separator
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // blank Braille pattern
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // Hangul filler
		{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1}, // variation selectors
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1}, // half-width Hangul filler
	},
	R32: []unicode.Range32{
		{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1}, // tags, and variation selectors of the supplement
	},
}

// isHidden reports whether a character shows nothing, breaks a line, or changes how others are shown.
func isHidden(r rune) bool {
	return r >= 0xad && unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, blanks)
}

const (
	joiner        = 0x200d // joins two emoji into one
	emojiSelector = 0xfe0f // shows the character before it as an emoji
)

// withinEmoji reports whether the character at an offset is part of an emoji: a selector after a pictograph, or a
// joiner between two.
func withinEmoji(text string, at int, r rune) bool {
	before, size := utf8.DecodeLastRuneInString(text[:at])
	switch r {
	case emojiSelector:
		return isPictograph(before) || strings.ContainsRune("#*0123456789", before) && strings.HasPrefix(text[at:], "\ufe0f\u20e3")
	case joiner:
		if before == emojiSelector {
			before, _ = utf8.DecodeLastRuneInString(text[:at-size])
		}
		after, _ := utf8.DecodeRuneInString(text[at+utf8.RuneLen(joiner):])
		return isPictograph(before) && isPictograph(after)
	}
	return false
}

// isPictograph reports whether a character is a symbol that emoji consist of.
func isPictograph(r rune) bool {
	const emojiBegin, emojiEnd = 0x1f000, 0x1faff
	return emojiBegin <= r && r <= emojiEnd || r >= 0x2000 && r < 0x3300 && unicode.In(r, unicode.So, unicode.Sm, unicode.Sk, unicode.Po) && r != 0x2800
}

// spelled returns the escape with a character's number, as in Go and JSON.
func spelled(r rune) string {
	if r > 0xffff {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}
