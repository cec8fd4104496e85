package bridge

import (
	"context"
	"fmt"
	"strings"
)

// Move is a group that became another chat. The conversation keeps the key of the old one.
type Move struct {
	From, To string // chats; in [Deliveries] the keys of their conversations
	Own      bool   // the new chat had a conversation before, and keeps it
}

// there makes a request with the place that a place of a group has become, if the group became another chat.
func (b *Bridge) there(ctx context.Context, to Place, request func(to Place) error) error {
	chat := to.Chat
	to.Chat = b.address(chat)
	err := request(to)
	if moved := FailureOf(err).MovedTo; moved != "" && b.noteMove(ctx, chat, moved) == nil {
		to.Chat = moved
		err = request(to)
	}
	return err
}

// takeMove notes that a group became another chat. It returns false for any other update, and if neither chat is
// allowed.
func (b *Bridge) takeMove(ctx context.Context, m *Move) bool {
	if m == nil || m.From == m.To || !b.isAllowed(m.From) && !b.isAllowed(m.To) {
		return false
	}
	return b.retry(ctx, "note that a group became another chat", func() error { return b.noteMove(ctx, m.From, m.To) }) == nil
}

// noteMove records, durably and once, that a group became another chat.
func (b *Bridge) noteMove(ctx context.Context, from, to string) error {
	if b.address(from) == to {
		return nil
	}
	move, err := b.Deliveries.NoteMove(ctx, b.key(Place{Chat: from}), b.key(Place{Chat: to}))
	if err != nil {
		return err
	}
	b.learn(move)
	words := fmt.Sprintf("chat %s became chat %s: its answers go there", from, to)
	if !move.Own {
		words += ", and it goes on with the conversation " + b.key(Place{Chat: from})
	}
	b.once(fmt.Sprintf("%s. It stays allowed; --%s-chat %s means the same from now on", words, b.traits.Name, to))
	return nil
}

// learn takes a move as it was recorded.
func (b *Bridge) learn(m Move) {
	from, is := strings.CutPrefix(m.From, b.traits.Name+":")
	to, isToo := strings.CutPrefix(m.To, b.traits.Name+":")
	if !is || !isToo {
		return // of another system
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.moves = append(b.moves, Move{From: from, To: to, Own: m.Own})
}

// find returns what of returns for the first move for which it is not empty; otherwise the chat itself.
func (b *Bridge) find(chat string, of func(Move) string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.moves {
		if other := of(m); other != "" {
			return other
		}
	}
	return chat
}

// address returns the chat that a chat is now.
func (b *Bridge) address(chat string) string {
	return b.find(chat, func(m Move) string { return ifIs(m.From == chat, m.To) })
}

// former returns the chat that a chat was.
func (b *Bridge) former(chat string) string {
	return b.find(chat, func(m Move) string { return ifIs(m.To == chat, m.From) })
}

// home returns the chat that is in the key of a chat's conversation.
func (b *Bridge) home(chat string) string {
	return b.find(chat, func(m Move) string { return ifIs(m.To == chat && !m.Own, m.From) })
}

func ifIs(is bool, chat string) string {
	if is {
		return chat
	}
	return ""
}
