package format

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf16"

	"nbs-worker/internal/human"
)

// The limits of a message. Telegram counts UTF-16 code units: most emoji are two. It takes 4,096 of them; a message that
// is cut from a text leaves room for a word before it.
const (
	MaxText     = 4000
	maxEntities = 100
)

// The types of entities.
const (
	bold          = "bold"
	italic        = "italic"
	strikethrough = "strikethrough"
	code          = "code"
	pre           = "pre"
	link          = "text_link"
	quotation     = "blockquote"
)

// Entity says how a part of a message looks. Offset and Length are in UTF-16 code units.
type Entity struct {
	Type     string `json:"type"`
	Offset   int    `json:"offset"`
	Length   int    `json:"length"`
	URL      string `json:"url,omitempty"`
	Language string `json:"language,omitempty"`
}

// Message is what fits into one message of Telegram.
type Message struct {
	Text     string
	Entities []Entity
}

// After returns the message with a word before it.
func (m Message) After(word string) Message {
	after := Message{Text: word + m.Text, Entities: slices.Clone(m.Entities)}
	for i := range after.Entities {
		after.Entities[i].Offset += length(word)
	}
	return after
}

// Text is a formatted text of any length.
type Text struct {
	text   string
	spans  []span // by their start, the longer ones first
	starts []int  // of the blocks before which the text may be cut
}

// span is an entity before the text is cut; its ends are in bytes.
type span struct {
	Entity
	start, end int
}

// Plain returns a text without any format.
func Plain(text string) Text { return Text{text: valid(text)} }

// Code returns lines of code.
func Code(lines ...string) (t Text) {
	for i, line := range lines {
		if i > 0 {
			t.text += "\n"
		}
		start := len(t.text)
		t.text += valid(line)
		t.spans = append(t.spans, span{Entity{Type: code}, start, len(t.text)})
	}
	return t
}

// valid returns a text in UTF-8, which Telegram insists on, with one form of line breaks.
func valid(text string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(text, "\uFFFD"))
}

// String returns the text without its format.
func (t Text) String() string { return t.text }

// IsBlank reports whether there is nothing to read.
func (t Text) IsBlank() bool { return strings.TrimSpace(t.text) == "" }

// Join returns texts one after the other, with an empty line between them. Blank ones are left out.
func Join(texts ...Text) Text {
	var all Text
	for _, t := range texts {
		if t.IsBlank() {
			continue
		}
		if all.text != "" {
			all.text += "\n\n"
			all.starts = append(all.starts, len(all.text))
		}
		for _, s := range t.spans {
			s.start, s.end = s.start+len(all.text), s.end+len(all.text)
			all.spans = append(all.spans, s)
		}
		for _, at := range t.starts {
			all.starts = append(all.starts, at+len(all.text))
		}
		all.text += t.text
	}
	return all
}

// Messages cuts a text into messages. Blank ones are left out.
func (t Text) Messages() []Message {
	var messages []Message
	for from := 0; from < len(t.text); {
		if t.text[from] == '\n' {
			from++
			continue
		}
		end := t.cut(from)
		if m := t.message(from, end); m.Text != "" {
			messages = append(messages, m)
		}
		from = end
		if from < len(t.text) && t.text[from] == ' ' && t.text[from-1] != '\n' {
			from++ // between two words
		}
	}
	return messages
}

// cut returns where the message that begins at from ends.
func (t Text) cut(from int) int {
	end := from + human.Prefix(t.text[from:], MaxText, utf16.RuneLen)
	if end == len(t.text) {
		return end
	}
	middle := from + (end-from)/2 // a short message is worse than a cut paragraph
	if i, _ := slices.BinarySearch(t.starts, end+1); i > 0 && t.starts[i-1] > middle {
		return t.starts[i-1]
	}
	for _, s := range t.spans {
		if s.Type == pre && from < s.start && s.start < end && end < s.end && length(t.text[s.start:s.end]) <= MaxText {
			return s.start
		}
	}
	for _, between := range []string{"\n", " "} {
		if at := strings.LastIndex(t.text[:end], between); at > middle {
			return at
		}
	}
	return end
}

func length(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// message returns a part of a text as a message.
func (t Text) message(from, end int) Message {
	end = from + len(strings.TrimRight(t.text[from:end], " \t\n"))
	m := Message{Text: t.text[from:end]}
	if strings.TrimSpace(m.Text) == "" {
		return Message{}
	}
	for _, s := range t.spans {
		start, stop := max(s.start, from), min(s.end, end)
		if start >= stop || strings.TrimSpace(t.text[start:stop]) == "" {
			continue
		}
		e := s.Entity
		e.Offset, e.Length = length(t.text[from:start]), length(t.text[start:stop])
		if m.Entities = append(m.Entities, e); len(m.Entities) == maxEntities {
			break
		}
	}
	return m
}

// sortSpans orders spans as they begin, outer ones first. A quotation is the outermost, and code the innermost.
func sortSpans(spans []span) {
	rank := map[string]int{quotation: -1, code: 1, pre: 1}
	slices.SortStableFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(rank[a.Type], rank[b.Type]))
	})
}
