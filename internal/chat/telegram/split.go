package telegram

import (
	"strings"
	"unicode/utf16"

	"nbs-worker/internal/human"
)

// maxText is the length limit of a message. Telegram counts UTF-16 code units: most emoji are two.
const maxText = 4096

// split cuts a text into messages of at most 4,096 UTF-16 code units. It prefers to cut between paragraphs, then
// between lines, then between words. Blank parts are dropped.
func split(text string) []string {
	text = strings.ToValidUTF8(text, "\uFFFD") // Telegram refuses invalid UTF-8
	var parts []string
	for text != "" {
		part, rest := cut(strings.TrimLeft(text, "\n"))
		if strings.TrimSpace(part) != "" {
			parts = append(parts, part)
		}
		text = rest
	}
	return parts
}

// cut takes the first message from a text. It drops the space or line break at the cut.
func cut(text string) (part, rest string) {
	end := human.Prefix(text, maxText, utf16.RuneLen)
	if end == len(text) {
		return text, ""
	}
	for _, between := range []string{"\n\n", "\n", " "} {
		// Not in the first half: a short message is worse than a cut paragraph.
		if at := strings.LastIndex(text[:end], between); at > end/2 {
			return text[:at], text[at+1:]
		}
	}
	return text[:end], text[end:]
}
