package matrix

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/human"
)

// event is one of a room.
type event struct {
	ID       string  `json:"event_id"`
	Type     string  `json:"type"`
	Sender   string  `json:"sender"`
	At       any     `json:"origin_server_ts"` // ms, as the homeserver of its sender says: a number
	Key      *string `json:"state_key"`        // of the state of a room; nil: it is no state
	Content  content `json:"content"`
	Unsigned struct {
		Before  content         `json:"prev_content"`   // of the state
		InPlace string          `json:"replaces_state"` // the event that was the state; a homeserver may leave out what that said
		Because json.RawMessage `json:"redacted_because"`
		About   struct {
			Edit *event `json:"m.replace"`
		} `json:"m.relations"`
	} `json:"unsigned"`
}

// time returns when an event was sent, if that is to be believed; 1970 if it does not say.
func (e *event) time() time.Time {
	at, _ := e.At.(float64)
	return time.UnixMilli(int64(at))
}

// content is what an event says.
type content struct {
	Kind     string          `json:"msgtype"`
	Body     string          `json:"body"`
	HTML     string          `json:"formatted_body"`
	FileName string          `json:"filename"`
	URL      string          `json:"url"`
	File     json.RawMessage `json:"file"` // an encrypted one
	Info     struct {
		Type string `json:"mimetype"`
		Size int64  `json:"size"`
	} `json:"info"`
	Voice    json.RawMessage `json:"org.matrix.msc3245.voice"`
	Mentions *struct {
		Users []string `json:"user_ids"`
	} `json:"m.mentions"`
	Relates struct {
		Kind    string `json:"rel_type"`
		To      string `json:"event_id"`
		Answers struct {
			To string `json:"event_id"`
		} `json:"m.in_reply_to"`
		IsFallback bool `json:"is_falling_back"` // it answers nothing: its thread is shown so by some clients
	} `json:"m.relates_to"`
	New *content `json:"m.new_content"`

	Membership  string `json:"membership"`
	DisplayName string `json:"displayname"`
	Name        string `json:"name"`
	Replacement string `json:"replacement_room"`
}

// UnmarshalJSON reads an event. One whose content has another form than it should have must not block the others: it says
// nothing, and of the state only who is in the room counts.
func (e *event) UnmarshalJSON(data []byte) error {
	data = exact(data)
	type plain event
	if json.Unmarshal(data, (*plain)(e)) == nil {
		return nil
	}
	type state struct {
		Membership string `json:"membership"`
	}
	var about struct {
		ID       string  `json:"event_id"`
		Type     string  `json:"type"`
		Key      *string `json:"state_key"`
		Content  state   `json:"content"`
		Unsigned struct {
			Before  state  `json:"prev_content"`
			InPlace string `json:"replaces_state"`
		} `json:"unsigned"`
	}
	_ = json.Unmarshal(data, &about)
	*e = event{ID: about.ID, Type: about.Type, Key: about.Key, Content: content{Membership: about.Content.Membership}}
	e.Unsigned.Before.Membership, e.Unsigned.InPlace = about.Unsigned.Before.Membership, about.Unsigned.InPlace
	return nil
}

// update returns the update of an event; nil if it is nothing for a bridge. The owner is whose private chat the room was
// then.
func (s *System) update(ctx context.Context, room, owner string, e *event) (*bridge.Update, error) {
	u := &bridge.Update{ID: Name + ":" + e.ID, At: bridge.Place{Chat: room}, Owner: owner, From: s.person(room, e.Sender)}
	switch {
	case e.Sender == s.me, e.Sender == "", e.ID == "":
		return nil, nil
	case e.Type == typeEncrypted:
		s.sayEncrypted(ctx, room)
		return nil, nil
	case e.Type != typeMessage && e.Type != typeSticker, e.Content.Kind == "m.notice": // of a bot, to which no bot answers
		return nil, nil
	case !s.serves(room, owner):
		return u, nil // it is logged
	case e.time().Before(s.coming.forgotten):
		s.lines.Once("room " + room + ": what was written before " + s.coming.forgotten.UTC().Format("2006-01-02 15:04") + " UTC is passed over: whether it was answered is not known any more")
		return nil, nil
	}
	u.Number = e.ID
	said := &e.Content
	if said.Relates.Kind == "m.replace" {
		of, err := s.related(ctx, room, said.Relates.To)
		if err != nil || of == nil || of.Sender != e.Sender || said.New == nil {
			return nil, err
		}
		u.IsEdit, u.Number = true, of.ID
		said.New.Relates = of.Content.Relates
		said = said.New
	}
	if said.Relates.Kind == "m.thread" && isEvent(said.Relates.To) {
		u.At.Topic = said.Relates.To
	}
	if to := said.Relates.Answers.To; to != "" && !said.Relates.IsFallback {
		answered, err := s.related(ctx, room, to)
		if err != nil {
			return nil, err
		}
		if answered != nil {
			u.Answers = &bridge.Quoted{Of: s.person(room, answered.Sender), Number: to, Mine: answered.Sender == s.me, Text: answered.text()}
			u.ForBot = u.Answers.Mine
		}
	}
	s.fill(u, e.Type, said)
	return u, nil
}

// fill sets what a message says and has.
func (s *System) fill(u *bridge.Update, kind string, said *content) {
	u.Text = said.text()
	if s.isNamed(said) {
		u.ForBot = true
		u.Text = s.withoutName(u.At.Chat, u.Text)
	}
	u.Text = spoken(u.Text)
	file := &bridge.Attachment{Ref: said.URL, Name: said.name(), Type: said.Info.Type, Size: said.Info.Size}
	switch {
	case kind == typeSticker:
		u.Unreadable = "a sticker"
	case len(said.File) > 0:
		u.Unreadable = "an encrypted file"
	case said.Kind == "m.image":
		file.Kind = "the picture"
	case said.Kind == "m.audio":
		file.Kind, file.Voice = "the voice message", true
	case said.Kind == "m.file":
		file.Kind = "the file"
	case said.Kind == "m.video":
		u.Unreadable = "a video"
	case said.Kind == "m.location":
		u.Unreadable = "a location"
	}
	if file.Kind != "" {
		u.File = file
	}
}

// isFile reports whether a message is a file, whose body is its name unless it has one besides.
func (c *content) isFile() bool {
	return slices.Contains([]string{"m.image", "m.audio", "m.file", "m.video"}, c.Kind) || c.Kind == ""
}

// name returns the name of a file.
func (c *content) name() string {
	if c.FileName != "" {
		return c.FileName
	}
	return c.Body
}

// text returns what a message says: of a file what is written below it.
func (c *content) text() string {
	switch {
	case c.isFile() && (c.FileName == "" || c.FileName == c.Body), c.Kind == "m.location":
		return ""
	case c.Relates.Answers.To != "":
		return withoutQuote(c.Body)
	}
	return c.Body
}

// text returns what an event says now.
func (e *event) text() string {
	if edit := e.Unsigned.About.Edit; edit != nil && edit.Content.New != nil && edit.Sender == e.Sender {
		return edit.Content.New.text()
	}
	return e.Content.text()
}

// withoutQuote removes the quotation of the answered message, which older clients put in front of an answer.
func withoutQuote(text string) string {
	if !strings.HasPrefix(text, "> <@") && !strings.HasPrefix(text, "> * <@") {
		return text
	}
	lines := strings.Split(text, "\n")
	at := slices.IndexFunc(lines, func(line string) bool { return !strings.HasPrefix(line, "> ") && line != ">" })
	if at < 0 {
		return ""
	}
	return strings.TrimPrefix(strings.Join(lines[at:], "\n"), "\n")
}

// isNamed reports whether a message names the bot.
func (s *System) isNamed(said *content) bool {
	if said.Mentions != nil && len(said.Mentions.Users) > 0 {
		return slices.Contains(said.Mentions.Users, s.me)
	}
	return strings.Contains(said.Body, s.me) || strings.Contains(said.HTML, "matrix.to/#/"+s.me)
}

// withoutName removes the bot's name from the front of a text, unless that is all.
func (s *System) withoutName(room, text string) string {
	name, _, _ := strings.Cut(s.me, ":")
	for _, name := range []string{s.me, s.person(room, s.me).Name, name, name[1:]} {
		for _, name := range []string{name, "@" + name} {
			behind, is := strings.CutPrefix(text, name)
			rest := strings.TrimLeft(behind, " ,:\n")
			if is && strings.Trim(name, "@") != "" && rest != "" && rest != behind { // not the beginning of another word
				return rest
			}
		}
	}
	return text
}

// spoken returns a text with a slash in front of a command: a client may take "/stop" for a command of its own, so
// "!stop" is the same.
func spoken(text string) string {
	rest, is := strings.CutPrefix(strings.TrimSpace(text), "!")
	word := rest
	if end := strings.IndexFunc(rest, unicode.IsSpace); end >= 0 {
		word = rest[:end]
	}
	if is && bridge.IsCommand("/"+strings.ToLower(word)) {
		return "/" + rest
	}
	return text
}

// isEvent reports whether a text has the form of an event's ID. Anyone may write any text where such an ID belongs.
func isEvent(text string) bool {
	const most = 255 // bytes
	return len(text) > 1 && len(text) <= most && text[0] == '$' && !strings.ContainsAny(text, " \t\n") && human.IsLegible(text)
}

// event fetches an event of a room; nil if it is gone.
func (s *System) event(ctx context.Context, room, id string) (*event, error) {
	if !isEvent(id) {
		return nil, nil
	}
	var e event
	err := s.call(ctx, http.MethodGet, ofRoom(room, "event", id), nil, &e)
	if bridge.FailureOf(err).Final || err == nil && len(e.Unsigned.Because) > 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &e, nil
}

// related is event for the updates. An event that the homeserver does not give for long, as a gateway does not let its ID
// pass, is gone: all rooms wait for it.
func (s *System) related(ctx context.Context, room, id string) (*event, error) {
	const tries = 8 // they take about two minutes
	e, err := s.event(ctx, room, id)
	if err == nil || ctx.Err() != nil || bridge.FailureOf(err).NotDone {
		return e, err
	}
	if s.failed++; s.failed < tries {
		return nil, err
	}
	if down := s.call(ctx, http.MethodGet, v3+"account/whoami", nil, nil); down != nil {
		return nil, down
	}
	s.lines.Printf("room %s: look at message %s, which another one there answers or changes: %v: it is taken as gone", room, id, err)
	return nil, nil
}
