package telegram

import (
	"strings"
	"unicode/utf8"
)

// maxText is the length limit of a message. Telegram counts UTF-16 code units: most emoji are two.
const maxText = 4096

// split cuts a text into messages of at most 4,096 UTF-16 code units. It prefers to cut between paragraphs, then
// between lines, then between words. A code block that is cut is closed, and reopened in the next message. Blank parts
// are dropped.
func split(text string) []string {
	text = strings.ToValidUTF8(text, "\uFFFD") // Telegram refuses invalid UTF-8
	var parts []string
	for opening := ""; text != ""; {
		if opening == "" {
			text = strings.TrimLeft(text, "\n")
		}
		room := maxText - units(opening)
		part, rest := text, ""
		if units(text) > room {
			part, rest = cut(text, room-fenceRoom)
		}
		part = opening + part
		opening = openFence(part)
		if rest != "" && opening != "" {
			part = strings.TrimSuffix(part, "\n") + "\n" + marker(opening)
		}
		if strings.TrimSpace(part) != "" {
			parts = append(parts, part)
		}
		if opening != "" {
			opening += "\n"
		}
		text = rest
	}
	return parts
}

const (
	longestFence = 64                   // of the opening line when repeated; a longer line loses its language
	fenceRoom    = longestFence + 1 + 1 // for a line break and the closing marker of a block
)

// cut divides a text that has more UTF-16 code units than room. It drops the space or line break at the cut.
func cut(text string, room int) (part, rest string) {
	end := prefix(text, room)
	for _, between := range []string{"\n\n", "\n", " "} {
		// Not in the first half: a short message is worse than a cut paragraph.
		if at := strings.LastIndex(text[:end], between); at > end/2 {
			return text[:at], text[at+1:] // a blank line within a code block stays in the next part
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

// openFence returns the opening line of the code block that is open at the end of a text; "" if none is open.
func openFence(text string) string {
	opening := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		fence := marker(line)
		switch {
		case fence == "":
		case opening == "":
			opening = line
		case line == fence && strings.HasPrefix(fence, marker(opening)):
			opening = ""
		}
	}
	if utf8.RuneCountInString(opening) > longestFence {
		return marker(opening)[:3]
	}
	return opening
}

// marker returns the backticks or tildes that begin or end a code block in a line; "" if the line has none.
func marker(line string) string {
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, mark)
		fence := line[:len(line)-len(rest)]
		if len(fence) >= 3 && (mark == "~" || !strings.Contains(rest, "`")) { // otherwise it is code within a line
			return fence
		}
	}
	return ""
}
