package telegram

import (
	"context"
	"fmt"
	"maps"
)

// Move is a group that became another chat. The conversation keeps the key of the old one.
type Move struct {
	From, To int64
	Own      bool // the new chat had a conversation before, and keeps it
}

// call calls a method of the Bot API in the chat that a group has become, if it has. Errors: those of callOnce.
func (b *Bridge) call(ctx context.Context, method string, params map[string]any, result any) error {
	return b.where(ctx, params, func(params map[string]any) error { return b.callOnce(ctx, method, params, result) })
}

// where makes a request with the chat that a group has become, if it has. The number of a message counts only in its own
// chat.
func (b *Bridge) where(ctx context.Context, params map[string]any, request func(params map[string]any) error) error {
	chat, isOf := params["chat_id"].(int64)
	if !isOf || params["message_id"] != nil || b.Deliveries == nil { // an account has no chats
		return request(params)
	}
	params = maps.Clone(params)
	params["chat_id"] = b.address(chat)
	err := request(params)
	if to := refusedIn(err).Parameters.MigrateTo; to != 0 && b.noteMove(ctx, chat, to) == nil {
		params["chat_id"] = to
		err = request(params)
	}
	return err
}

// takeMove notes that a group became another chat. It returns false for any other message, and if neither chat is
// allowed.
func (b *Bridge) takeMove(ctx context.Context, m *message) bool {
	from, to := m.Chat.ID, m.MovedTo
	if m.MovedFrom != 0 {
		from, to = m.MovedFrom, m.Chat.ID
	}
	if to == 0 || from == to || !b.isAllowed(from) && !b.isAllowed(to) {
		return false
	}
	return b.retry(ctx, "note that a group became another chat", func() error { return b.noteMove(ctx, from, to) }) == nil
}

// noteMove records, durably and once, that a group became another chat.
func (b *Bridge) noteMove(ctx context.Context, from, to int64) error {
	if b.address(from) == to {
		return nil
	}
	move, err := b.Deliveries.NoteMove(ctx, from, to)
	if err != nil {
		return err
	}
	b.moveAll([]Move{move})
	words := fmt.Sprintf("chat %d became chat %d: its answers go there", from, to)
	if !move.Own {
		words += fmt.Sprintf(", and it goes on with the conversation telegram:%d", from)
	}
	b.once(words + fmt.Sprintf(". It stays allowed; --telegram-chat %d means the same from now on", to))
	return nil
}

func (b *Bridge) moveAll(moves []Move) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.moves = append(b.moves, moves...)
}

// find returns the value that of returns for the first move for which it is not 0; otherwise the chat itself.
func (b *Bridge) find(chat int64, of func(Move) int64) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.moves {
		if other := of(m); other != 0 {
			return other
		}
	}
	return chat
}

// address returns the chat that a chat is now.
func (b *Bridge) address(chat int64) int64 {
	return b.find(chat, func(m Move) int64 { return ifIs(m.From == chat, m.To) })
}

// former returns the chat that a chat was.
func (b *Bridge) former(chat int64) int64 {
	return b.find(chat, func(m Move) int64 { return ifIs(m.To == chat, m.From) })
}

// home returns the chat whose number is in the key of a chat's conversation.
func (b *Bridge) home(chat int64) int64 {
	return b.find(chat, func(m Move) int64 { return ifIs(m.To == chat && !m.Own, m.From) })
}

func ifIs(is bool, chat int64) int64 {
	if is {
		return chat
	}
	return 0
}
