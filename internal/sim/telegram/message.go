package telegram

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Message is one of a chat, of its users or of the bot.
type Message struct {
	Chat      int64     `json:"chat"`
	Number    int       `json:"number"` // message_id: rises with each message of any chat
	Bot       bool      `json:"bot"`
	Text      string    `json:"text"` // or the caption of a file; without the markup of a parse mode
	ParseMode string    `json:"parse_mode,omitempty"`
	At        time.Time `json:"at"`

	From          int64      `json:"from,omitempty"`
	Topic         int        `json:"topic,omitempty"` // message_thread_id
	ReplyTo       int        `json:"reply_to,omitempty"`
	Quote         string     `json:"quote,omitempty"`
	Entities      []Entity   `json:"entities,omitempty"`
	Buttons       [][]Button `json:"buttons,omitempty"`
	Media         *Media     `json:"media,omitempty"`
	Album         string     `json:"album,omitempty"` // media_group_id
	ForwardedFrom string     `json:"forwarded_from,omitempty"`
	Edited        time.Time  `json:"edited,omitzero"`
	Before        []string   `json:"before,omitempty"` // its texts before it was edited, oldest first
	Deleted       bool       `json:"deleted,omitempty"`
	Quiet         bool       `json:"quiet,omitempty"`    // no phone gives notice of it
	Reaction      string     `json:"reaction,omitempty"` // the bot's

	service map[string]any // of a service message
}

// keep adds a message to its chat. The lock is held.
func (s *Server) keep(m Message) Message {
	m.Number, m.At = len(s.messages)+1, time.Now()
	if m.Topic == opened {
		m.Topic = m.Number
	}
	if m.Media != nil && m.Media.ID == "" {
		m.Media = s.attach(m.Media)
	}
	s.messages = append(s.messages, m)
	s.Change()
	return m
}

// render is a message as the bot sees it. The lock is held.
func (s *Server) render(m Message) map[string]any {
	about := s.renderAlone(m)
	answered := s.find(m.Chat, m.ReplyTo)
	if answered == nil && m.Topic > general && m.Topic != m.Number {
		answered = s.find(m.Chat, m.Topic) // as in Telegram: each message of a topic answers the one that opened it
	}
	if answered != nil {
		about["reply_to_message"] = s.renderAlone(*answered)
	}
	if m.Quote != "" {
		about["quote"] = map[string]any{"text": m.Quote, "position": 0, "is_manual": true}
	}
	return about
}

// renderAlone leaves out what a message answers: Telegram does not nest that.
func (s *Server) renderAlone(m Message) map[string]any {
	c := s.chat(m.Chat)
	about := map[string]any{"message_id": m.Number, "date": m.At.Unix(), "chat": s.renderChat(c), "from": s.person(m.From)}
	maps.Copy(about, m.service)
	switch {
	case m.Media != nil:
		about[m.Media.Kind] = m.Media.render()
		setText(about, "caption", "caption_entities", m)
	default:
		setText(about, "text", "entities", m)
	}
	switch thread := s.thread(c, m); {
	case c.forum && m.Topic > general:
		about["message_thread_id"], about["is_topic_message"] = m.Topic, true
	case thread != 0:
		about["message_thread_id"] = thread
	}
	if m.Album != "" {
		about["media_group_id"] = m.Album
	}
	if m.ForwardedFrom != "" {
		about["forward_origin"] = map[string]any{"type": "hidden_user", "sender_user_name": m.ForwardedFrom, "date": m.At.Unix()}
	}
	if !m.Edited.IsZero() {
		about["edit_date"] = m.Edited.Unix()
	}
	if m.Buttons != nil {
		about["reply_markup"] = map[string]any{"inline_keyboard": m.Buttons}
	}
	return about
}

func setText(about map[string]any, text, entities string, m Message) {
	if m.Text != "" {
		about[text] = m.Text
	}
	if len(m.Entities) > 0 {
		about[entities] = m.Entities
	}
}

// thread is the first message of the answers that a message of a supergroup belongs to: Telegram gives its number as
// message_thread_id although the supergroup has no topics.
func (s *Server) thread(c *chat, m Message) (first int) {
	if c.kind != "supergroup" || c.forum {
		return 0
	}
	for m.ReplyTo != 0 {
		first = m.ReplyTo
		answered := s.find(m.Chat, m.ReplyTo)
		if answered == nil {
			break
		}
		m = *answered
	}
	return first
}

// Chat returns the messages of a chat that are not deleted, oldest first.
func (s *Server) Chat(chat int64) []Message {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.after(chat, 0)
}

func (s *Server) after(chat int64, number int) []Message {
	var messages []Message
	for _, m := range s.messages {
		if m.Chat == chat && m.Number > number && !m.Deleted {
			messages = append(messages, m)
		}
	}
	return messages
}

// Message returns a message by its number, deleted or not.
func (s *Server) Message(number int) Message {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.messages[number-1]
}

// Sent returns what the bot wrote to a chat and did not delete, oldest first.
func (s *Server) Sent(chat int64) []string { return texts(s.Chat(chat)) }

// Bots returns the bot's messages in a chat that are not deleted, oldest first.
func (s *Server) Bots(chat int64) []Message {
	return slices.DeleteFunc(s.Chat(chat), func(m Message) bool { return !m.Bot })
}

// texts are the texts of the bot's messages.
func texts(messages []Message) []string {
	sent := []string{}
	for _, m := range messages {
		if m.Bot {
			sent = append(sent, m.Text)
		}
	}
	return sent
}

// Await waits until the bot has written that many messages to a chat, and returns all of them.
func (s *Server) Await(ctx context.Context, chat int64, count int) ([]string, error) {
	if !s.AwaitChange(ctx, func() bool { return len(texts(s.after(chat, 0))) >= count }) {
		return s.Sent(chat), fmt.Errorf("wait for %d messages to chat %d: %w", count, chat, ctx.Err())
	}
	return s.Sent(chat), nil
}

// AwaitIn waits until is, which gets the messages of a chat that are not deleted, returns true. It returns them.
func (s *Server) AwaitIn(ctx context.Context, chat int64, is func([]Message) bool) ([]Message, error) {
	if !s.AwaitChange(ctx, func() bool { return is(s.after(chat, 0)) }) {
		return s.Chat(chat), fmt.Errorf("wait for a change of chat %d: %w", chat, ctx.Err())
	}
	return s.Chat(chat), nil
}
