package telegram

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf16"

	"nbs-worker/internal/chat/bridge"
)

// update has the used fields of an update.
type update struct {
	ID      int64    `json:"update_id"`
	Message *message `json:"message"`
	Edited  *message `json:"edited_message"`
	Press   *press   `json:"callback_query"`
}

// wantedUpdates are the kinds of updates that Telegram is asked for.
var wantedUpdates = []string{"message", "edited_message", "callback_query"}

// message has the used fields of a message.
type message struct {
	Number  int64  `json:"message_id"`
	From    user   `json:"from"`
	AsGroup titled `json:"sender_chat"` // of an administrator who does not show their name
	Chat    struct {
		ID   int64  `json:"id"`
		Type string `json:"type"`
	} `json:"chat"`
	Thread  int64 `json:"message_thread_id"` // also set in a thread of replies, which is no topic
	IsTopic bool  `json:"is_topic_message"`

	Text            string   `json:"text"`
	Caption         string   `json:"caption"` // of a picture or a file
	Entities        []entity `json:"entities"`
	CaptionEntities []entity `json:"caption_entities"`

	ReplyTo *message `json:"reply_to_message"`
	Quote   struct {
		Text string `json:"text"`
	} `json:"quote"` // the part of ReplyTo or Elsewhere that is answered
	Elsewhere *struct {
		Origin origin `json:"origin"`
	} `json:"external_reply"` // the message of another chat that is answered
	Forwarded *origin `json:"forward_origin"`

	MovedTo   int64 `json:"migrate_to_chat_id"`
	MovedFrom int64 `json:"migrate_from_chat_id"`

	media
}

// origin is who wrote a message that was forwarded, or is of another chat: one of these.
type origin struct {
	User    user   `json:"sender_user"`
	Name    string `json:"sender_user_name"` // of a user who hides their account
	Group   titled `json:"sender_chat"`
	Channel titled `json:"chat"`
}

type titled struct {
	Title string `json:"title"`
}

type user struct {
	ID    int64  `json:"id"`
	First string `json:"first_name"`
	Name  string `json:"username"`
}

// entity is a part of a text with a meaning. Its place is in UTF-16 code units.
type entity struct {
	Type   string `json:"type"`
	Offset int    `json:"offset"`
	Length int    `json:"length"`
	User   user   `json:"user"` // of a text_mention
}

// words returns the text of a message, or the caption, and its entities.
func (m *message) words() (string, []entity) {
	if m.Text != "" {
		return m.Text, m.Entities
	}
	return m.Caption, m.CaptionEntities
}

// in returns the part of a text that an entity marks.
func (e *entity) in(text string) string {
	units := utf16.Encode([]rune(text))
	begin := min(max(0, e.Offset), len(units))
	end := min(max(begin, begin+e.Length), len(units))
	return string(utf16.Decode(units[begin:end]))
}

// take reads an update. isNew is false if it was read before, and if it has no number: then it cannot be acknowledged and
// comes again. u is nil if there is nothing in it for a bridge.
func (s *System) take(ctx context.Context, raw json.RawMessage) (u *bridge.Update, isNew bool) {
	var came update
	if err := json.Unmarshal(raw, &came); err != nil {
		// An update that cannot be parsed must not block the others: it is acknowledged by its number.
		s.log.Printf("an update from Telegram cannot be read and is skipped: %v", err)
		came.Message, came.Edited, came.Press = nil, nil, nil
	}
	if came.ID <= 0 {
		s.log.Once("an update from Telegram has no number and is skipped")
		return nil, false
	}
	if !s.acks.begin(came.ID) {
		return nil, false
	}
	m := cmp.Or(came.Edited, came.Message)
	if came.Press != nil {
		m = came.Press.typed()
	}
	if m == nil {
		s.acks.done(came.ID)
		return nil, true
	}
	u = s.updateOf(m)
	u.ID, u.IsEdit, u.Done = name+":"+numbered(came.ID), came.Edited != nil, func() { s.acks.done(came.ID) }
	if came.Press != nil {
		u.Button, u.Taken = true, func() { s.confirm(ctx, came.Press) }
	}
	return u, true
}

// general is the number of a group's General topic, where it is given. No message can be sent to that number.
const general = 1

// nearlyFull is the length of a text from which on it may have been split by the sender's app, which prefers to cut
// between words.
const (
	maxSent    = 4096 // UTF-16 code units
	nearlyFull = maxSent - 600
)

// updateOf returns what a bridge is to know of a message.
func (s *System) updateOf(m *message) *bridge.Update {
	length := len(utf16.Encode([]rune(m.Text)))
	chat := numbered(m.Chat.ID)
	u := &bridge.Update{
		At: bridge.Place{Chat: chat}, Owner: s.Owner(chat), From: m.From.person(), Hidden: m.AsGroup.Title != "",
		Number: numbered(m.Number), Text: s.spoken(m), ForBot: s.isForBot(m),
		File: m.file(), Unreadable: m.unreadable(), Album: m.Album, Full: length >= nearlyFull, Cut: length == maxSent,
	}
	if m.IsTopic && m.Thread != general {
		u.At.Topic = numbered(m.Thread)
	}
	if u.Hidden {
		u.From.Name, u.From.Handle = m.AsGroup.Title, ""
	}
	if answered := m.answered(); answered != nil {
		text, _ := answered.words()
		u.Answers = &bridge.Quoted{Of: answered.From.person(), Number: numbered(answered.Number), Mine: answered.From.ID == s.me.ID, Text: cmp.Or(m.Quote.Text, text)}
	}
	if m.Elsewhere != nil {
		u.Elsewhere = &bridge.Quoted{Of: m.Elsewhere.Origin.person(), Text: m.Quote.Text}
	}
	if m.Forwarded != nil {
		by := m.Forwarded.person()
		u.Forwarded = &by
	}
	switch {
	case m.MovedFrom != 0:
		u.Move = &bridge.Move{From: numbered(m.MovedFrom), To: u.At.Chat}
	case m.MovedTo != 0:
		u.Move = &bridge.Move{From: u.At.Chat, To: numbered(m.MovedTo)}
	}
	return u
}

func (u *user) person() bridge.Person {
	return bridge.Person{ID: numbered(u.ID), Name: u.First, Handle: u.Name}
}

// person returns who wrote a message that was forwarded.
func (o *origin) person() bridge.Person {
	if name := cmp.Or(o.Name, o.Group.Title, o.Channel.Title); name != "" {
		return bridge.Person{Name: name}
	}
	return o.User.person()
}

func isGroup(m *message) bool { return m.Chat.Type != "private" }

// isForBot reports whether a message of a group names the bot, or answers it.
func (s *System) isForBot(m *message) bool {
	if answered := m.answered(); answered != nil && answered.From.ID == s.me.ID {
		return true
	}
	text, entities := m.words()
	return slices.ContainsFunc(entities, func(e entity) bool { return s.isNamed(&e, text) })
}

// isNamed reports whether an entity of a text names the bot.
func (s *System) isNamed(e *entity, text string) bool {
	switch e.Type {
	case "mention":
		return strings.EqualFold(e.in(text), "@"+s.me.Username)
	case "text_mention":
		return e.User.ID == s.me.ID
	}
	return false
}

// answered returns the message that a message answers; nil if it answers none. In a topic, Telegram shows each message
// as an answer to the message that opened the topic.
func (m *message) answered() *message {
	if m.ReplyTo == nil || m.IsTopic && m.ReplyTo.Number == m.Thread {
		return nil
	}
	return m.ReplyTo
}

// spoken returns the text of a message without the bot's name before it, unless that is all.
func (s *System) spoken(m *message) string {
	text, entities := m.words()
	if !isGroup(m) {
		return text
	}
	for _, e := range entities {
		if e.Offset == 0 && s.isNamed(&e, text) {
			rest := strings.TrimLeft(strings.TrimPrefix(text, e.in(text)), " ,:\n")
			return cmp.Or(rest, text)
		}
	}
	return text
}
