package matrix

import (
	"strings"
	"unicode/utf8"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/human"
)

// maxEvent is the size of the content of an event, in bytes: an event may have 65,536, with its signatures.
const maxEvent = 60_000

// size is what a character of a text counts.
func size(r rune) int { return utf8.RuneLen(r) }

// Format implements [bridge.System]. A message has what Claude wrote as its text, and as HTML.
func (s *System) Format(pieces ...bridge.Piece) []bridge.Message {
	var messages []bridge.Message
	for _, p := range pieces {
		p.Text = strings.ToValidUTF8(p.Text, "\uFFFD")
		if strings.TrimSpace(p.Text) == "" {
			continue
		}
		for _, m := range rendered(p, longest) {
			if last := len(messages) - 1; last >= 0 {
				if both := joint(messages[last], m); fits(both) {
					messages[last] = both
					continue
				}
			}
			messages = append(messages, m)
		}
	}
	for i, m := range messages {
		if !strings.Contains(m.Format.(string), "<") || m.Format == paragraph(m.Text) {
			messages[i].Format = nil // the text says all
		}
	}
	return messages
}

// joint returns two messages as one, with an empty line between them.
func joint(a, b bridge.Message) bridge.Message {
	return bridge.Message{Text: a.Text + "\n\n" + b.Text, Format: a.Format.(string) + b.Format.(string)}
}

// fits reports whether a message can be sent, and another one be changed into it.
func fits(m bridge.Message) bool {
	m.Before = bridge.PerhapsAgain
	content, err := marshal(edited("", contentOf(m)))
	return err == nil && len(m.Text) <= longest && len(content) <= maxEvent
}

// rendered returns the messages of a piece. Each has at most the given number of bytes of it.
func rendered(p bridge.Piece, most int) (messages []bridge.Message) {
	const least = 500
	for _, part := range cut(p.Text, most, p.Markdown) {
		m := bridge.Message{Text: part, Format: paragraph(part)}
		switch {
		case p.Code:
			m.Format = "<p><code>" + escape(part) + "</code></p>"
		case p.Markdown:
			if html := asHTML(part); shows(html) {
				m.Format = html
			}
		}
		switch {
		case fits(m):
			messages = append(messages, m)
		case most > least:
			messages = append(messages, rendered(bridge.Piece{Text: part, Markdown: p.Markdown, Code: p.Code}, most/2)...)
		default: // a few characters with much markup
			messages = append(messages, bridge.Message{Text: part, Format: paragraph(part)})
		}
	}
	return messages
}

// cut returns the parts of a text. Each has at most the given number of bytes. It is cut at an empty line if possible, else at the end of a line. A
// block of code of Markdown that is cut ends in its part, and begins again in the next one.
func cut(text string, most int, isMarkdown bool) (parts []string) {
	var lines []string
	for line := range strings.Lines(text) {
		for len(line) > most {
			end := human.Prefix(line, most, size)
			if space := strings.LastIndexByte(line[:end], ' '); space > end/2 {
				end = space + 1
			}
			lines, line = append(lines, line[:end]), line[end:]
		}
		lines = append(lines, line)
	}
	var part []string
	var length, good int // good: the lines before the last empty line that is not in code
	var open fence
	end := func(at int, begun fence) {
		said := strings.Join(part[:at], "")
		if begun.mark != "" {
			said = strings.TrimRight(said, "\n") + "\n" + begun.mark
		}
		if said = strings.Trim(said, "\n"); strings.TrimSpace(said) != "" {
			parts = append(parts, said)
		}
		part = append([]string{}, part[at:]...)
		if begun.mark != "" {
			part = append([]string{begun.line}, part...)
		}
		length, good = len(strings.Join(part, "")), 0
	}
	for _, line := range lines {
		if length+len(line)+len(open.mark) > most && len(part) > 0 {
			if good > 0 {
				end(good, fence{})
			} else {
				end(len(part), open)
			}
		}
		part, length = append(part, line), length+len(line)
		if isMarkdown {
			open = open.after(line)
		}
		if strings.TrimSpace(line) == "" && open.mark == "" {
			good = len(part)
		}
	}
	end(len(part), fence{})
	return parts
}

// fence is a block of code that has begun.
type fence struct {
	mark string // what ends it: ```, ~~~~
	line string // what begins it
}

// after returns what is open after a line.
func (f fence) after(line string) fence {
	trimmed := strings.TrimSpace(line)
	if f.mark != "" {
		if strings.HasPrefix(trimmed, f.mark) && strings.Trim(trimmed, f.mark[:1]) == "" {
			return fence{}
		}
		return f
	}
	for _, sign := range []string{"`", "~"} {
		if mark := trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, sign))]; len(mark) >= 3 && !strings.Contains(trimmed[len(mark):], "`") {
			return fence{mark, line}
		}
	}
	return f
}
