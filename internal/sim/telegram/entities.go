package telegram

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
)

// Entity is a part of a text that is formatted, or that means something: a mention, a command. It is counted in UTF-16
// code units.
type Entity struct {
	Type     string `json:"type"`
	Offset   int    `json:"offset"`
	Length   int    `json:"length"`
	URL      string `json:"url,omitempty"`
	User     *User  `json:"user,omitempty"`
	Language string `json:"language,omitempty"`
	Emoji    string `json:"custom_emoji_id,omitempty"`
}

// of returns the part of a text.
func (e Entity) of(text string) string {
	all := utf16.Encode([]rune(text))
	return string(utf16.Decode(all[e.Offset : e.Offset+e.Length]))
}

// maxEntities is how many of a message are kept. Telegram drops the others without a word.
const maxEntities = 100

const entityTypes = "mention hashtag cashtag bot_command url email phone_number bold italic underline strikethrough spoiler blockquote expandable_blockquote " +
	"code pre text_link text_mention custom_emoji date_time"

// parse returns the text of a call without its markup, and its entities. The lock is held.
func (s *Server) parse(text, mode, list string) (string, []Entity, *refusal) {
	var entities []Entity
	var err error
	switch strings.ToLower(mode) {
	case "":
		var refused *refusal
		if entities, refused = s.given(text, list); refused != nil {
			return "", nil, refused
		}
	case "markdown":
		text, entities, err = parseMarkdown(text)
	case "markdownv2":
		text, entities, err = parseMarkdownV2(text)
	case "html":
		text, entities, err = parseHTML(text)
	default:
		return "", nil, bad("unsupported parse_mode")
	}
	if err != nil {
		return "", nil, bad("can't parse entities: %v", err)
	}
	text, entities = trimmed(text, entities)
	if len(entities) > maxEntities {
		s.Fault("a message has %d entities: only %d are kept", len(entities), maxEntities)
		entities = entities[:maxEntities]
	}
	return text, entities, nil
}

// given reads the entities that a call gives apart from its text. The lock is held.
func (s *Server) given(text, list string) ([]Entity, *refusal) {
	if list == "" {
		return nil, nil
	}
	var raw []json.RawMessage
	if err := json.Unmarshal([]byte(list), &raw); err != nil {
		return nil, bad("can't parse entities JSON object")
	}
	all := utf16.Encode([]rune(text))
	var entities []Entity
	for _, one := range raw {
		s.known("MessageEntity", string(one), "type offset length url user language custom_emoji_id unix_time date_time_format")
		var e Entity
		if err := json.Unmarshal(one, &e); err != nil {
			return nil, bad("can't parse MessageEntity: %v", err)
		}
		end := e.Offset + e.Length
		switch {
		case !slices.Contains(strings.Fields(entityTypes), e.Type):
			return nil, bad("can't parse MessageEntity: Unsupported type specified")
		case e.Offset < 0:
			return nil, bad("receive an entity with incorrect offset %d", e.Offset)
		case e.Length < 0:
			return nil, bad("receive an entity with incorrect length %d", e.Length)
		case e.Length == 0:
			continue
		case e.Offset > len(all):
			return nil, bad("entity begins after the end of the text at UTF-16 offset %d", e.Offset)
		case end > len(all):
			return nil, bad("entity beginning at UTF-16 offset %d ends after the end of the text at UTF-16 offset %d", e.Offset, end)
		case isInside(all, e.Offset):
			return nil, bad("entity begins in a middle of a UTF-16 symbol at byte offset %d", bytesIn(all, e.Offset))
		case isInside(all, end):
			return nil, bad("entity beginning at UTF-16 offset %d ends in a middle of a UTF-16 symbol at byte offset %d", e.Offset, bytesIn(all, end))
		case e.Type == "text_link" && e.URL == "":
			return nil, bad("can't parse MessageEntity: Can't find field \"url\"")
		}
		entities = append(entities, e)
	}
	return sorted(entities), nil
}

// isInside reports whether a place is between the two halves of a character.
func isInside(all []uint16, at int) bool {
	return at > 0 && at < len(all) && utf16.IsSurrogate(rune(all[at])) && all[at] >= 0xDC00
}

// bytesIn is the length in bytes of the characters that begin before a place.
func bytesIn(all []uint16, at int) int {
	if isInside(all, at) {
		at++
	}
	return len(string(utf16.Decode(all[:at])))
}

func sorted(entities []Entity) []Entity {
	slices.SortStableFunc(entities, func(a, b Entity) int {
		if a.Offset != b.Offset {
			return a.Offset - b.Offset
		}
		return b.Length - a.Length
	})
	return entities
}

// trimmed takes the blanks around a text away, as Telegram does, and from its entities.
func trimmed(text string, entities []Entity) (string, []Entity) {
	rest := strings.TrimLeft(text, " \n\t\r")
	shift := units(text) - units(rest)
	rest = strings.TrimRight(rest, " \n\t\r")
	size := units(rest)
	var kept []Entity
	for _, e := range entities {
		begin, end := max(0, e.Offset-shift), min(size, e.Offset+e.Length-shift)
		if begin < end {
			e.Offset, e.Length = begin, end-begin
			kept = append(kept, e)
		}
	}
	return rest, kept
}

// What Telegram finds in a text by itself.
var (
	commands = regexp.MustCompile(`(?:^|[^\w/@])(/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?)(?:[^\w/@]|$)`)
	mentions = regexp.MustCompile(`(?:^|[^\w/@])(@[A-Za-z0-9_]{3,32})\b`)
	urls     = regexp.MustCompile(`(https?://[^\s<>"]+)`)
)

// detected are the entities that Telegram finds in what a user writes.
func detected(text string) []Entity {
	var found []Entity
	for kind, pattern := range map[string]*regexp.Regexp{"bot_command": commands, "mention": mentions, "url": urls} {
		for from := 0; from <= len(text); {
			at := pattern.FindStringSubmatchIndex(text[from:])
			if at == nil {
				break
			}
			word := text[from+at[2] : from+at[3]]
			found = append(found, Entity{Type: kind, Offset: units(text[:from+at[2]]), Length: units(word)})
			from += at[3] // the character after it may be before the next
		}
	}
	return sorted(found)
}
