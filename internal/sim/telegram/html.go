package telegram

import (
	"html"
	"regexp"
	"strings"
)

// tags are those that the HTML parse mode takes, with the entity that each is.
var tags = map[string]string{
	"b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline", "s": "strikethrough", "strike": "strikethrough",
	"del": "strikethrough", "tg-spoiler": "spoiler", "span": "spoiler", "a": "text_link", "code": "code", "pre": "pre", "blockquote": "blockquote",
	"tg-emoji": "custom_emoji", "tg-time": "date_time",
}

// attributes finds the name and the value of each attribute.
var attributes = regexp.MustCompile(`([a-zA-Z-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+)))?`)

// tag is one whose end was not read yet.
type tag struct {
	Entity

	name  string
	begin int
}

// parseHTML reads the HTML parse mode.
func parseHTML(text string) (string, []Entity, error) {
	var b builder
	var stack []tag
	for i := 0; i < len(text); {
		switch text[i] {
		case '&':
			size, decoded := reference(text[i:])
			b.addAll(decoded)
			i += size
			continue
		case '<':
		default:
			i += b.add(text[i:])
			continue
		}
		end := strings.IndexByte(text[i:], '>')
		inside := text[i+1:]
		if end >= 0 {
			inside = text[i+1 : i+end]
		}
		if name, closes := strings.CutPrefix(inside, "/"); closes {
			name = strings.ToLower(strings.TrimSpace(name))
			switch n := len(stack); {
			case n == 0:
				return "", nil, unparsed("Unexpected end tag at byte offset %d", i)
			case end < 0 || name != "" && name != stack[n-1].name:
				return "", nil, unparsed("Unmatched end tag at byte offset %d, expected \"</%s>\", found \"</%s>\"", i, stack[n-1].name, name)
			default:
				closeTag(&b, stack)
				stack = stack[:n-1]
			}
		} else {
			opened, err := openTag(inside, i, end >= 0)
			if err != nil {
				return "", nil, err
			}
			opened.begin = b.units
			stack = append(stack, opened)
		}
		i += end + 1
	}
	if n := len(stack); n > 0 {
		return "", nil, unparsed("Can't find end tag corresponding to start tag \"%s\"", stack[n-1].name)
	}
	return b.result()
}

// reference reads one of the four named references, or a numeric one; any other & is itself.
func reference(text string) (size int, decoded string) {
	end := strings.IndexByte(text, ';')
	if end < 0 {
		return 1, "&"
	}
	switch name := text[1:end]; {
	case name == "lt", name == "gt", name == "amp", name == "quot", strings.HasPrefix(name, "#"):
		if decoded := html.UnescapeString(text[:end+1]); !strings.HasPrefix(decoded, "&#") {
			return end + 1, decoded
		}
	}
	return 1, "&"
}

func openTag(inside string, at int, ends bool) (tag, error) {
	name, rest, _ := strings.Cut(strings.ReplaceAll(inside, "\n", " "), " ")
	name = strings.ToLower(name)
	kind, is := tags[name]
	switch {
	case !is:
		return tag{}, unparsed("Unsupported start tag \"%s\" at byte offset %d", name, at)
	case !ends:
		return tag{}, unparsed("Unclosed start tag at byte offset %d", at)
	}
	t := tag{Entity: Entity{Type: kind}, name: name}
	given := map[string]string{}
	for _, a := range attributes.FindAllStringSubmatch(rest, -1) {
		given[a[1]] = html.UnescapeString(a[2] + a[3] + a[4])
	}
	_, expandable := given["expandable"]
	switch {
	case name == "a":
		t.URL = given["href"]
	case name == "code":
		t.Language = strings.TrimPrefix(given["class"], "language-")
	case name == "tg-emoji":
		t.Emoji = given["emoji-id"]
	case name == "blockquote" && expandable:
		t.Type = "expandable_blockquote"
	case name == "span" && given["class"] != "tg-spoiler":
		return tag{}, unparsed("Tag \"span\" must have class \"tg-spoiler\" at byte offset %d", at)
	}
	return t, nil
}

// closeTag ends the innermost tag. A language is that of the block around the code.
func closeTag(b *builder, stack []tag) {
	t := stack[len(stack)-1]
	if len(stack) > 1 && t.name == "code" && stack[len(stack)-2].name == "pre" {
		stack[len(stack)-2].Language = t.Language
		return
	}
	if t.Language != "" && t.name == "code" {
		t.Language = ""
	}
	if t.name == "a" && t.URL == "" {
		return
	}
	b.end(t.Entity, t.begin)
}
