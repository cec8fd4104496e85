package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf16"
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

// isService reports whether a message has no content of a user's: someone joined, a message was pinned.
func (m *message) isService() bool {
	text, _ := m.words()
	return text == "" && m.unreadable() == "" && !m.hasFile()
}

// general is the number of a group's General topic, where it is given. No message can be sent to that number.
const general = 1

// place returns the place whose conversation the message belongs to.
func (b *Bridge) place(m *message) Place {
	chat := b.home(m.Chat.ID)
	if !m.IsTopic || m.Thread == general {
		return Place{chat: chat}
	}
	return Place{chat, m.Thread}
}

// take passes an update to its chat. It returns false if the chat already has it, and if it has no number: then it
// cannot be acknowledged and comes again.
func (b *Bridge) take(ctx context.Context, raw json.RawMessage) (isNew bool) {
	var update update
	if err := json.Unmarshal(raw, &update); err != nil {
		// An update that cannot be parsed must not block the others: it is acknowledged by its number.
		b.log("an update from Telegram cannot be read and is skipped: %v", err)
		update.Message, update.Edited, update.Press = nil, nil, nil
	}
	if update.ID <= 0 {
		b.once("an update from Telegram has no number and is skipped")
		return false
	}
	if !b.acks.begin(update.ID) {
		return false
	}
	m, isEdit := update.Message, false
	switch {
	case update.Edited != nil:
		m, isEdit = update.Edited, true
	case update.Press != nil:
		b.confirm(ctx, update.Press)
		m = update.Press.typed()
	}
	if m == nil || !b.takeMove(ctx, m) && !b.isHeard(m) {
		b.acks.done(update.ID)
		return true
	}
	in := b.incoming(&update, m, isEdit)
	if m.isService() || !in.isFor && !b.mayBelong(m, isEdit) {
		in.done()
		return true
	}
	b.notePaste(m)
	b.pass(b.chat(ctx, b.place(m)), in)
	return true
}

// isHeard reports whether the chat and the writer of a message are allowed. It holds for every kind of update.
func (b *Bridge) isHeard(m *message) bool {
	switch {
	case !b.isAllowed(m.Chat.ID):
		b.once(fmt.Sprintf("chat %d is not allowed: what it writes is dropped", m.Chat.ID))
	case !b.maySpeak(m):
		b.once(fmt.Sprintf("user %d is not allowed in chat %d: what they write is dropped", m.From.ID, m.Chat.ID))
	default:
		return true
	}
	return false
}

// incoming returns the message of an update for its chat.
func (b *Bridge) incoming(u *update, m *message, isEdit bool) incoming {
	at := b.place(m)
	text, _ := b.spoken(m)
	return incoming{
		Incoming: Incoming{
			Key: at.key(), ID: fmt.Sprintf("telegram:%d", u.ID), Text: text, Context: b.contextOf(m), Messages: []int64{m.Number},
		},
		message: m, messages: []*message{m}, group: isGroup(m), isFor: b.isFor(m), isEdit: isEdit,
		done: func() { b.acks.done(u.ID) },
	}
}
