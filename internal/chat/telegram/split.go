package telegram

import "strings"

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
	end := prefix(text, maxText)
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

// prefix returns the length in bytes of the longest prefix with at most room UTF-16 code units.
func prefix(text string, room int) int {
	for at, r := range text {
		if room -= width(r); room < 0 {
			return at
		}
	}
	return len(text)
}

// units returns the length of a text in UTF-16 code units.
func units(text string) int {
	n := 0
	for _, r := range text {
		n += width(r)
	}
	return n
}

func width(r rune) int {
	const firstOfTwo = 0x10000
	if r >= firstOfTwo {
		return 2
	}
	return 1
}
