package telegram

import (
	"context"
	"maps"
	"net/http"
	"strings"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/chat/telegram/format"
)

// Format implements [bridge.System].
func (s *System) Format(pieces ...bridge.Piece) (messages []bridge.Message) {
	texts := make([]format.Text, len(pieces))
	for i, p := range pieces {
		switch {
		case p.Markdown:
			texts[i] = format.Markdown(p.Text)
		case p.Code:
			texts[i] = format.Code(strings.Split(p.Text, "\n")...)
		}
		if texts[i].IsBlank() { // Markdown may be markup alone, such as ">"
			texts[i] = format.Plain(p.Text)
		}
	}
	for _, m := range format.Join(texts...).Messages() {
		messages = append(messages, bridge.Message{Text: m.Text, Format: m.Entities})
	}
	return messages
}

// Send implements [bridge.System]. Telegram takes no ids of senders.
func (s *System) Send(ctx context.Context, to bridge.Place, _ string, m bridge.Message) (bridge.Sent, error) {
	var sent struct {
		ID   int64 `json:"message_id"`
		Chat struct {
			ID int64 `json:"id"`
		} `json:"chat"`
	}
	params := with(to, map[string]any{})
	if m.Quiet {
		params["disable_notification"] = true
	}
	if len(m.Choices) > 0 {
		params["reply_markup"] = keyboard(m.Choices)
	}
	if err := s.formatted(ctx, "sendMessage", params, m, &sent); err != nil {
		return bridge.Sent{}, unsent(err)
	}
	return bridge.Sent{Chat: numbered(sent.Chat.ID), Message: numbered(sent.ID)}, nil
}

// Edit implements [bridge.System].
func (s *System) Edit(ctx context.Context, at bridge.Sent, m bridge.Message) error {
	err := s.formatted(ctx, "editMessageText", which(at), m, nil)
	if isUnchanged(err) {
		return nil
	}
	return unsent(err)
}

// isUnchanged reports whether Telegram refused an edit because the message already says so.
func isUnchanged(err error) bool {
	return strings.Contains(refusedIn(err).Description, "message is not modified")
}

// Delete implements [bridge.System].
func (s *System) Delete(ctx context.Context, at bridge.Sent) error {
	return unsent(s.call(ctx, "deleteMessage", which(at), nil))
}

// which returns the parameters that name a message.
func which(at bridge.Sent) map[string]any {
	return map[string]any{"chat_id": numberOf(at.Chat), "message_id": numberOf(at.Message)}
}

// formatted makes one request with a text. If Telegram refuses it with its entities, it is made once without them.
func (s *System) formatted(ctx context.Context, method string, params map[string]any, m bridge.Message, result any) error {
	entities, _ := m.Format.([]format.Entity)
	text := format.Message{Text: m.Text, Entities: entities}.After(m.Before)
	params = maps.Clone(params)
	params["text"] = text.Text
	if len(entities) == 0 {
		return s.call(ctx, method, params, result)
	}
	params["entities"] = text.Entities
	err := s.call(ctx, method, params, result)
	if refused := refusedIn(err); refused.Code != http.StatusBadRequest || refused.Parameters.MigrateTo != 0 || isUnchanged(err) {
		return err
	}
	delete(params, "entities")
	again := s.call(ctx, method, params, result)
	if again == nil {
		s.log.Printf("Telegram refused the formatting of a message, which is plain now: %v", err)
	}
	return again
}

// Typing implements [bridge.System]. Telegram ends it by itself.
func (s *System) Typing(ctx context.Context, to bridge.Place, is bool) error {
	if !is {
		return nil
	}
	return failed(s.call(ctx, "sendChatAction", with(to, map[string]any{"action": "typing"}), nil))
}
