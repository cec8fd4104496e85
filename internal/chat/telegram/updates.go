package telegram

import (
	"context"
	"encoding/json"
	"fmt"
)

// update has the used fields of an update.
type update struct {
	ID      int64    `json:"update_id"`
	Message *message `json:"message"`
}

// message has the used fields of a message.
type message struct {
	From struct {
		ID int64 `json:"id"`
	} `json:"from"`
	Chat struct {
		ID   int64  `json:"id"`
		Type string `json:"type"`
	} `json:"chat"`
	Thread  int64  `json:"message_thread_id"` // also set in a thread of replies, which is no topic
	IsTopic bool   `json:"is_topic_message"`
	Text    string `json:"text"`
}

// general is the number of a group's General topic, where it is given. No message can be sent to that number.
const general = 1

func (m *message) place() Place {
	if !m.IsTopic || m.Thread == general {
		return Place{chat: m.Chat.ID}
	}
	return Place{m.Chat.ID, m.Thread}
}

// take passes an update to its chat. It returns false if the chat already has it, and if it has no number: then it
// cannot be acknowledged and comes again.
func (b *Bridge) take(ctx context.Context, raw json.RawMessage) (isNew bool) {
	var update update
	if err := json.Unmarshal(raw, &update); err != nil {
		// An update that cannot be parsed must not block the others: it is acknowledged by its number.
		b.log("an update from Telegram cannot be read and is skipped: %v", err)
		update.Message = nil
	}
	if update.ID <= 0 {
		b.once("an update from Telegram has no number and is skipped")
		return false
	}
	if !b.acks.begin(update.ID) {
		return false
	}
	done := func() { b.acks.done(update.ID) }
	switch message := update.Message; {
	case message == nil:
		done()
	case !b.isAllowed(message.Chat.ID):
		b.once(fmt.Sprintf("chat %d is not allowed: what it writes is dropped", message.Chat.ID))
		done()
	case !b.maySpeak(message.From.ID):
		b.once(fmt.Sprintf("user %d is not allowed in chat %d: what they write is dropped", message.From.ID, message.Chat.ID))
		done()
	default:
		at := message.place()
		b.pass(b.chat(ctx, at), incoming{
			Incoming: Incoming{Key: at.key(), ID: fmt.Sprintf("telegram:%d", update.ID), Text: message.Text},
			group:    message.Chat.Type != "private", done: done,
		})
	}
	return true
}
