package telegram

import (
	"slices"
	"strings"
	"time"
	"unicode/utf16"
)

// With says more about what a user writes.
type With func(*Message)

// By is who writes; the user of a private chat when it is left out.
func By(user int64) With { return func(m *Message) { m.From = user } }

// InTopic is the topic of a forum in which a message is written.
func InTopic(number int) With { return func(m *Message) { m.Topic = number } }

// ReplyingTo is the message that is answered.
func ReplyingTo(number int) With { return func(m *Message) { m.ReplyTo = number } }

// Quoting is the part of the answered message that is quoted.
func Quoting(part string) With { return func(m *Message) { m.Quote = part } }

// Captioned is the text below a picture or a file.
func Captioned(text string) With { return func(m *Message) { m.Text = text } }

// ForwardedFrom is who wrote a message that is forwarded: a user who hides their account.
func ForwardedFrom(name string) With { return func(m *Message) { m.ForwardedFrom = name } }

// Marked gives a part of the text an entity, such as bold. The first occurrence is meant.
func Marked(part, kind string) With {
	return func(m *Message) {
		before, _, _ := strings.Cut(m.Text, part)
		m.Entities = append(m.Entities, Entity{Type: kind, Offset: units(before), Length: units(part)})
	}
}

// Mentioning makes a part of the text a mention of a user who has no user name.
func Mentioning(part string, user User) With {
	return func(m *Message) {
		Marked(part, "text_mention")(m)
		m.Entities[len(m.Entities)-1].User = &user
	}
}

func units(text string) int { return len(utf16.Encode([]rune(text))) }

// Say has the user of a chat write a text.
func (s *Server) Say(chat int64, text string) Message { return s.SayAs(chat, chat, text) }

// SayAs has a user write a text into a chat.
func (s *Server) SayAs(user, chat int64, text string, with ...With) Message {
	return s.Write(Message{Chat: chat, From: user, Text: text}, with...)
}

// SayIn has a member of a group write a text. The group becomes a supergroup unless it was made before.
func (s *Server) SayIn(group, member int64, text string) {
	s.Mu.Lock()
	if s.chats[group] == nil {
		s.add(&chat{id: group, kind: "supergroup"})
	}
	s.Mu.Unlock()
	s.SayAs(member, group, text)
}

// Write has a user write a message, and returns it as it was kept.
func (s *Server) Write(m Message, with ...With) Message {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.write(m, with...)
}

func (s *Server) write(m Message, with ...With) Message {
	for _, change := range with {
		change(&m)
	}
	if m.From == 0 {
		m.From = m.Chat
	}
	c := s.chat(m.Chat)
	if c.kind != "private" && c.members[m.From] == "" {
		c.members[m.From] = "member"
	}
	m.Entities = slices.Concat(m.Entities, detected(m.Text))
	slices.SortStableFunc(m.Entities, func(a, b Entity) int { return a.Offset - b.Offset })
	m = s.keep(m)
	if s.reads(c, m) {
		s.queue("message", s.render(m))
	}
	return m
}

// reads reports whether the bot gets a message of a chat: with privacy mode, not all of a group's. The lock is held.
func (s *Server) reads(c *chat, m Message) bool {
	if c.kind == "private" || !s.privacy || c.bot == "administrator" {
		return true
	}
	if replied := s.find(m.Chat, m.ReplyTo); replied != nil && replied.Bot {
		return true
	}
	return slices.ContainsFunc(m.Entities, func(e Entity) bool {
		word := e.of(m.Text)
		_, bot, isNamed := strings.Cut(word, "@")
		named := strings.EqualFold(bot, Name)
		return e.Type == "mention" && named || e.Type == "bot_command" && (named || !isNamed)
	})
}

// Edit has the author of a message change its text, or its caption.
func (s *Server) Edit(chat int64, number int, text string) Message {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	m := s.find(chat, number)
	if m == nil {
		return Message{}
	}
	m.Before = append(m.Before, m.Text)
	m.Text, m.Entities, m.Edited = text, detected(text), time.Now()
	s.Change()
	if s.reads(s.chat(chat), *m) {
		s.queue("edited_message", s.render(*m))
	}
	return *m
}

// Press has a user press an inline button of the bot's, by its data, and returns the number of the query, "" when the
// message has no such button.
func (s *Server) Press(user, chat int64, number int, data string) (query string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	m := s.find(chat, number)
	if m == nil || !slices.ContainsFunc(slices.Concat(m.Buttons...), func(b Button) bool { return b.Data == data }) {
		return ""
	}
	query = newQuery(len(s.queries) + 1)
	s.queries[query] = &Answered{}
	s.queue("callback_query", map[string]any{
		"id": query, "from": s.person(user), "message": s.render(*m), "chat_instance": "1", "data": data,
	})
	return query
}

// Block has the user of a chat block the bot, or unblock it.
func (s *Server) Block(chat int64, blocked bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	status := "member"
	if blocked {
		status = "kicked"
	}
	if c := s.chat(chat); c.bot != status {
		s.setBot(c, chat, status)
	}
}

// find returns a message of a chat that is not deleted, nil when there is none. The lock is held.
func (s *Server) find(chat int64, number int) *Message {
	if number < 1 || number > len(s.messages) {
		return nil
	}
	m := &s.messages[number-1]
	if m.Chat != chat || m.Deleted {
		return nil
	}
	return m
}
