package matrix

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
)

// Message is one of a room, as its users see it: with its last edit.
type Message struct {
	Room     string   `json:"room"`
	ID       string   `json:"id,omitempty"`
	Number   int      `json:"number"` // rises with each event of any room
	From     string   `json:"from"`
	Kind     string   `json:"kind,omitempty"` // its msgtype
	Text     string   `json:"text"`
	HTML     string   `json:"html,omitempty"`
	Thread   string   `json:"thread,omitempty"`   // the event that began it
	ReplyTo  string   `json:"reply_to,omitempty"` // the event that it answers
	Mentions bool     `json:"mentions,omitempty"` // it names the bot
	Edits    string   `json:"edits,omitempty"`    // the event whose text it changes; only of what is said
	Edited   int      `json:"edited,omitempty"`   // how often
	Txn      string   `json:"txn,omitempty"`
	Media    *Media   `json:"media,omitempty"`
	Before   []string `json:"before,omitempty"` // its texts before it was edited, oldest first
}

// Media is a file in a message.
type Media struct {
	Kind    string `json:"kind"` // m.image, m.file, m.audio, m.video
	Name    string `json:"name,omitempty"`
	Type    string `json:"type,omitempty"` // its media type
	Content []byte `json:"content,omitempty"`
	Voice   bool   `json:"voice,omitempty"`
}

// With changes a message before it is said.
type With func(*Message)

// InThread is the thread that a message belongs to, by the event that began it.
func InThread(root string) With { return func(m *Message) { m.Thread = root } }

// ReplyingTo is the message that is answered.
func ReplyingTo(id string) With { return func(m *Message) { m.ReplyTo = id } }

// NamingTheBot has the message mention the bot.
func NamingTheBot(m *Message) { m.Mentions = true }

// Captioned is the text below a picture or a file.
func Captioned(text string) With { return func(m *Message) { m.Text = text } }

// Say has a user write a text into a room, and returns the message.
func (s *Server) Say(room, user, text string, with ...With) Message {
	return s.Write(Message{Room: room, From: user, Text: text}, with...)
}

// Send has a user send a file.
func (s *Server) Send(room, user string, media Media, with ...With) Message {
	return s.Write(Message{Room: room, From: user, Media: &media}, with...)
}

// Edit has the author of a message change its text.
func (s *Server) Edit(m Message, text string, with ...With) Message {
	return s.Write(Message{Room: m.Room, From: m.From, Text: text, Edits: m.ID}, with...)
}

// Redact has a user take a message back.
func (s *Server) Redact(m Message, by string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.redacts(m.Room, by, m.ID, "")
}

// redacts adds a redaction. The lock is held.
func (s *Server) redacts(room, by, id, txn string) *event {
	e := s.add(event{room: room, sender: by, kind: "m.room.redaction", content: map[string]any{"redacts": id}, txn: txn})
	if of := s.find(room, id); of != nil {
		of.redacted = e.id
	}
	return e
}

// Write has a user write a message.
func (s *Server) Write(m Message, with ...With) Message {
	for _, change := range with {
		change(&m)
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	content := s.contentOf(m)
	relates := map[string]any{}
	if m.ReplyTo != "" {
		relates["m.in_reply_to"] = map[string]any{"event_id": m.ReplyTo}
	}
	if m.Thread != "" {
		relates["rel_type"], relates["event_id"], relates["is_falling_back"] = "m.thread", m.Thread, m.ReplyTo == ""
		relates["m.in_reply_to"] = map[string]any{"event_id": cmp.Or(m.ReplyTo, m.Thread)}
	}
	if m.Edits != "" {
		content["m.new_content"] = maps.Clone(content)
		content["body"] = "* " + m.Text
		relates = map[string]any{"rel_type": "m.replace", "event_id": m.Edits}
	}
	if len(relates) > 0 {
		content["m.relates_to"] = relates
	}
	kind := "m.room.message"
	if s.rooms[m.Room].encrypted {
		kind, content = "m.room.encrypted", map[string]any{"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "AwgAEnAC"}
	}
	return s.show(s.add(event{room: m.Room, sender: m.From, kind: kind, content: content}))
}

func (s *Server) contentOf(m Message) map[string]any {
	content := map[string]any{"msgtype": "m.text", "body": m.Text, "m.mentions": map[string]any{}}
	if m.Mentions {
		content["m.mentions"] = map[string]any{"user_ids": []any{Bot}}
	}
	if m.Media == nil {
		return content
	}
	content["msgtype"], content["body"] = m.Media.Kind, m.Media.Name
	content["url"] = s.keep(file{m.Media.Name, m.Media.Type, m.Media.Content})
	content["info"] = map[string]any{"mimetype": m.Media.Type, "size": len(m.Media.Content)}
	if m.Text != "" {
		content["body"], content["filename"] = m.Text, m.Media.Name
	}
	if m.Media.Voice {
		content["org.matrix.msc3245.voice"] = map[string]any{}
	}
	return content
}

// show is a message as the users see it. The lock is held.
func (s *Server) show(e *event) Message {
	m := Message{Room: e.room, ID: e.id, Number: e.number, From: e.sender, Txn: e.txn}
	var kind string
	if kind, m.Thread, m.ReplyTo = relation(e.content); kind != "m.thread" {
		m.Thread = ""
	}
	content := e.content
	for _, edit := range s.events {
		if kind, to, _ := relation(edit.content); kind == "m.replace" && to == e.id && edit.room == e.room && edit.sender == e.sender {
			text, _ := content["body"].(string)
			m.Before = append(m.Before, text)
			content, _ = edit.content["m.new_content"].(map[string]any)
			m.Edited++
		}
	}
	m.Kind, _ = content["msgtype"].(string)
	m.Text, _ = content["body"].(string)
	m.HTML, _ = content["formatted_body"].(string)
	if uri, is := content["url"].(string); is {
		f := s.media[uri]
		m.Media = &Media{Kind: m.Kind, Name: f.name, Type: f.kind, Content: f.content}
	}
	return m
}

// Shown returns the messages that a room shows, oldest first.
func (s *Server) Shown(room string) []Message {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.after(room, 0)
}

func (s *Server) after(room string, number int) []Message {
	var messages []Message
	for _, e := range s.events {
		kind, _, _ := relation(e.content)
		if e.room == room && e.number > number && e.kind == "m.room.message" && e.redacted == "" && kind != "m.replace" {
			messages = append(messages, s.show(e))
		}
	}
	return messages
}

// Bots returns the bot's messages in a room that were not taken back, oldest first.
func (s *Server) Bots(room string) []Message { return bots(s.Shown(room)) }

func bots(messages []Message) []Message {
	return slices.DeleteFunc(messages, func(m Message) bool { return m.From != Bot })
}

// Sent returns the texts of the bot's messages in a room.
func (s *Server) Sent(room string) []string {
	sent := []string{}
	for _, m := range s.Bots(room) {
		sent = append(sent, m.Text)
	}
	return sent
}

// Await waits until the bot has written that many messages to a room, and returns the texts of all of them.
func (s *Server) Await(ctx context.Context, room string, count int) ([]string, error) {
	_, err := s.AwaitIn(ctx, room, func(shown []Message) bool { return len(bots(shown)) >= count })
	return s.Sent(room), err
}

// AwaitIn waits until is, which gets the messages of a room, returns true. It returns them.
func (s *Server) AwaitIn(ctx context.Context, room string, is func([]Message) bool) ([]Message, error) {
	if !s.AwaitChange(ctx, func() bool { return is(s.after(room, 0)) }) {
		return s.Shown(room), fmt.Errorf("wait for a change of room %s: %w", room, ctx.Err())
	}
	return s.Shown(room), nil
}
