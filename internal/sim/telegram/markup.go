package telegram

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// unparsedError says why a text cannot be read, in Telegram's words.
type unparsedError struct{ why string }

func (e unparsedError) Error() string { return e.why }

func unparsed(format string, args ...any) error { return unparsedError{fmt.Sprintf(format, args...)} }

// builder collects a text without its markup, and its entities.
type builder struct {
	text     strings.Builder
	units    int
	entities []Entity
}

// add adds the first character of a text, and returns how many bytes it has.
func (b *builder) add(text string) int {
	r, size := utf8.DecodeRuneInString(text)
	b.text.WriteString(text[:size])
	b.units++
	if r > 0xFFFF {
		b.units++
	}
	return size
}

func (b *builder) addAll(text string) {
	for text != "" {
		text = text[b.add(text):]
	}
}

// end ends an entity that began at an offset. Telegram drops empty ones.
func (b *builder) end(e Entity, begin int) {
	e.Offset, e.Length = begin, b.units-begin
	if e.Length > 0 {
		b.entities = append(b.entities, e)
	}
}

func (b *builder) result() (string, []Entity, error) { return b.text.String(), sorted(b.entities), nil }

// parseMarkdown reads the old parse mode: no nesting, and a backslash only before what begins an entity.
func parseMarkdown(text string) (string, []Entity, error) {
	var b builder
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text) && strings.IndexByte("_*`[", text[i+1]) >= 0:
			i += 1 + b.add(text[i+1:])
			continue
		case strings.IndexByte("_*`[", c) < 0:
			i += b.add(text[i:])
			continue
		}
		mark, kind := string(c), map[byte]string{'_': "italic", '*': "bold", '`': "code", '[': "text_link"}[c]
		closing := mark
		if strings.HasPrefix(text[i:], "```") {
			mark, closing, kind = "```", "```", "pre"
		} else if c == '[' {
			closing = "]"
		}
		inside, rest, found := strings.Cut(text[i+len(mark):], closing)
		if !found {
			return "", nil, unparsed("Can't find end of the entity starting at byte offset %d", i)
		}
		e := Entity{Type: kind}
		if kind == "pre" {
			e.Language, inside = language(inside)
		}
		begin := b.units
		b.addAll(inside)
		if kind == "text_link" {
			if url, after, is := strings.Cut(strings.TrimPrefix(rest, "("), ")"); is && strings.HasPrefix(rest, "(") {
				e.URL, rest = url, after
			}
		}
		if kind != "text_link" || e.URL != "" {
			b.end(e, begin)
		}
		i = len(text) - len(rest)
	}
	return b.result()
}

// language splits the language from the begin of a block of code.
func language(inside string) (name, rest string) {
	name, rest, found := strings.Cut(inside, "\n")
	if !found || strings.ContainsAny(name, " \t`") {
		return "", inside
	}
	return name, rest
}

// opening is an entity whose end was not read yet.
type opening struct {
	Entity

	mark  string // what ends it
	named string // in Telegram's refusal
	begin int    // units
	at    int    // bytes
}

// marks are what begins an entity of MarkdownV2; a longer one is before a shorter one that it begins with.
var marks = []struct{ mark, end, kind, named string }{
	{"```", "```", "pre", "Pre"}, {"`", "`", "code", "Code"}, {"__", "__", "underline", "Underline"}, {"_", "_", "italic", "Italic"}, {"*", "*", "bold", "Bold"},
	{"~", "~", "strikethrough", "Strikethrough"}, {"||", "||", "spoiler", "Spoiler"}, {"![", "]", "custom_emoji", "CustomEmoji"}, {"[", "]", "text_link", "TextUrl"},
}

// markdown reads MarkdownV2.
type markdown struct {
	builder

	text  string
	at    int
	stack []opening
}

func parseMarkdownV2(text string) (string, []Entity, error) {
	m := &markdown{text: text}
	for m.at < len(text) {
		if err := m.step(); err != nil {
			return "", nil, err
		}
	}
	if m.inside("blockquote") {
		m.pop()
	}
	if n := len(m.stack); n > 0 {
		return "", nil, unparsed("Can't find end of %s entity at byte offset %d", m.stack[n-1].named, m.stack[n-1].at)
	}
	return m.result()
}

// inside reports whether the innermost open entity is of one of the kinds.
func (m *markdown) inside(kinds ...string) bool {
	for _, kind := range kinds {
		if n := len(m.stack); n > 0 && m.stack[n-1].Type == kind {
			return true
		}
	}
	return false
}

func (m *markdown) pop() {
	o := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	m.end(o.Entity, o.begin)
}

func (m *markdown) step() error {
	rest := m.text[m.at:]
	code := m.inside("pre", "code")
	switch {
	case rest[0] == '\\' && len(rest) > 1 && rest[1] > 0 && rest[1] < 127:
		m.add(rest[1:])
		m.at += 2
	case rest[0] == '\n' && !code:
		if m.inside("blockquote") && !strings.HasPrefix(rest, "\n>") {
			m.pop()
		}
		m.at += m.add(rest)
		if m.inside("blockquote") {
			m.at++
		}
	case rest[0] == '>' && len(m.stack) == 0 && (m.at == 0 || m.text[m.at-1] == '\n'):
		m.stack = append(m.stack, opening{Entity: Entity{Type: "blockquote"}, named: "BlockQuote", begin: m.units, at: m.at})
		m.at++
	case strings.IndexByte("_*[]()~`>#+-=|{}.!", rest[0]) < 0 || code && rest[0] != '`':
		m.at += m.add(rest)
	default:
		return m.mark(rest)
	}
	return nil
}

// mark reads a character that has a meaning: it ends the innermost entity, or begins one.
func (m *markdown) mark(rest string) error {
	underline := strings.HasPrefix(rest, "__") && m.inside("italic")
	if n := len(m.stack); n > 0 && m.stack[n-1].mark != "" && strings.HasPrefix(rest, m.stack[n-1].mark) && !underline {
		return m.close()
	}
	for _, known := range marks {
		if !strings.HasPrefix(rest, known.mark) {
			continue
		}
		o := opening{Entity: Entity{Type: known.kind}, mark: known.end, named: known.named, at: m.at, begin: m.units}
		m.at += len(known.mark)
		if known.kind == "pre" {
			var inside string
			if o.Language, inside = language(m.text[m.at:]); o.Language != "" {
				o.named = "PreCode"
			}
			m.at = len(m.text) - len(inside)
		}
		m.stack = append(m.stack, o)
		return nil
	}
	return unparsed("Character '%c' is reserved and must be escaped with the preceding '\\'", rest[0])
}

// close ends the innermost entity, with the address of a link.
func (m *markdown) close() error {
	o := &m.stack[len(m.stack)-1]
	m.at += len(o.mark)
	if o.mark != "]" {
		m.pop()
		return nil
	}
	if !strings.HasPrefix(m.text[m.at:], "(") {
		if o.Type == "custom_emoji" {
			return unparsed("Custom emoji entity must contain a tg://emoji URL")
		}
		m.stack = m.stack[:len(m.stack)-1] // Telegram takes the text for the address
		return nil
	}
	begin := m.at
	var url strings.Builder
	for m.at++; m.at < len(m.text) && m.text[m.at] != ')'; m.at++ {
		if m.text[m.at] == '\\' && m.at+1 < len(m.text) {
			m.at++
		}
		url.WriteByte(m.text[m.at])
	}
	if m.at >= len(m.text) {
		what := map[string]string{"text_link": "a URL", "custom_emoji": "a custom emoji URL"}[o.Type]
		return unparsed("Can't find end of %s at byte offset %d", what, begin)
	}
	m.at++
	if o.URL = url.String(); o.Type == "custom_emoji" {
		o.Emoji, o.URL = strings.TrimPrefix(o.URL, "tg://emoji?id="), ""
	}
	m.pop()
	return nil
}
