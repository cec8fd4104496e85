package telegram

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Message is one of a chat, of its user or of the bot.
type Message struct {
	Chat      int64     `json:"chat"`
	Number    int       `json:"number"` // message_id: rises with each message of any chat
	Bot       bool      `json:"bot"`
	Text      string    `json:"text"`
	ParseMode string    `json:"parse_mode,omitempty"`
	At        time.Time `json:"at"`
}

// Say has the user of a chat write a text.
func (s *Server) Say(chat int64, text string) Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.keep(Message{Chat: chat, Text: text})
	s.queue(m, map[string]any{"text": text})
	return m
}

// SayIn has a member of a group write a text.
func (s *Server) SayIn(group, member int64, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	content := map[string]any{"text": text}
	s.queue(s.keep(Message{Chat: group, Text: text}), content)
	content["chat"], content["from"] = map[string]any{"id": group, "type": "supergroup"}, map[string]any{"id": member}
}

// SendPhoto has the user of a chat send something that is no text.
func (s *Server) SendPhoto(chat int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue(s.keep(Message{Chat: chat}), map[string]any{"photo": []any{map[string]any{"file_id": "x", "width": 1, "height": 1}}})
}

// keep adds a message to its chat. The lock is held.
func (s *Server) keep(m Message) Message {
	m.Number, m.At = len(s.messages)+1, time.Now()
	s.messages = append(s.messages, m)
	s.change()
	return m
}

// queue makes an update of a user's message. The lock is held.
func (s *Server) queue(m Message, content map[string]any) {
	content["message_id"] = m.Number
	content["date"] = m.At.Unix()
	content["chat"] = map[string]any{"id": m.Chat, "type": "private"}
	content["from"] = map[string]any{"id": m.Chat, "is_bot": false, "first_name": "User"}
	s.numbered++
	s.updates = append(s.updates, update{ID: s.numbered, Message: content})
	s.change()
}

// Chat returns the messages of a chat, oldest first.
func (s *Server) Chat(chat int64) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.after(chat, 0)
}

func (s *Server) after(chat int64, number int) []Message {
	var messages []Message
	for _, m := range s.messages {
		if m.Chat == chat && m.Number > number {
			messages = append(messages, m)
		}
	}
	return messages
}

// Sent returns what the bot wrote to a chat, oldest first.
func (s *Server) Sent(chat int64) []string { return texts(s.Chat(chat)) }

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
	if !s.await(ctx, func() bool { return len(texts(s.after(chat, 0))) >= count }) {
		return s.Sent(chat), fmt.Errorf("wait for %d messages to chat %d: %w", count, chat, ctx.Err())
	}
	return s.Sent(chat), nil
}

// AwaitAcknowledged waits until every update is acknowledged.
func (s *Server) AwaitAcknowledged(ctx context.Context) error {
	if !s.await(ctx, func() bool { return len(s.updates) == 0 }) {
		return fmt.Errorf("wait for acknowledgement: %w", ctx.Err())
	}
	return nil
}

// AwaitCalls waits until a method of the Bot API was called that often.
func (s *Server) AwaitCalls(ctx context.Context, method string, count int) error {
	if !s.await(ctx, func() bool { return s.calls[method] >= count }) {
		return fmt.Errorf("wait for %d calls of %s: %w", count, method, ctx.Err())
	}
	return nil
}

// Calls is how often a method of the Bot API was called.
func (s *Server) Calls(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[method]
}

// Hold keeps the calls of a method waiting until release is called.
func (s *Server) Hold(method string) (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hold := make(chan struct{})
	s.holds[method] = hold
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.holds, method)
		close(hold)
	}
}

// Hasty is how often a method was called before it was allowed to be, after a 429.
func (s *Server) Hasty() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hasty
}

// Block has the user of a chat block the bot, or unblock it.
func (s *Server) Block(chat int64, blocked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blocked[chat] = blocked
}

// Failure is what becomes of the next calls of a method.
type Failure struct {
	Method     string `json:"method"`
	Times      int    `json:"times"`                 // 1 when it is 0
	Code       int    `json:"code"`                  // HTTP status, and error_code in the answer; 0: the connection is cut
	RetryAfter int    `json:"retry_after,omitempty"` // seconds, with 429
	MigrateTo  int64  `json:"migrate_to,omitempty"`  // the chat that the group has become, with 400
	Done       bool   `json:"done,omitempty"`        // the call is carried out, and only its answer is lost
	HTML       bool   `json:"html,omitempty"`        // the answer is a page, as from a proxy
}

// Fail has the next calls of a method fail.
func (s *Server) Fail(f Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.Times = max(f.Times, 1)
	s.failures = append(s.failures, &f)
}

// failure takes the next failure that is meant for a method, nil when there is none. The lock is held.
func (s *Server) failure(method string) *Failure {
	at := slices.IndexFunc(s.failures, func(f *Failure) bool { return f.Method == method })
	if at < 0 {
		return nil
	}
	f := s.failures[at]
	if f.Times--; f.Times == 0 {
		s.failures = slices.Delete(s.failures, at, at+1)
	}
	return f
}
