package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"nbs-worker/internal/platform/clock"
)

// poll asks for updates until the context ends, and passes each to its chat.
func (b *Bridge) poll(ctx context.Context) error {
	wait := b.backoff()
	for {
		offset := b.acks.offset()
		updates, err := b.getUpdates(ctx, offset)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			if refusedIn(err).Code == http.StatusUnauthorized { // the token was revoked
				return errToken()
			}
			b.log("ask Telegram for messages: %v: it is tried again", err)
			if err := clock.Sleep(ctx, retryAfter(err, wait)); err != nil {
				return err
			}
			continue
		}
		wait.Reset()
		b.acks.confirmed(offset)
		isNew := false
		for _, raw := range updates {
			isNew = b.take(ctx, raw) || isNew
		}
		if len(updates) > 0 && !isNew {
			b.acks.progress(ctx) // all updates are being processed, and would be returned again at once
		}
	}
}

// update has the used fields of an update.
type update struct {
	ID      int64 `json:"update_id"`
	Message *struct {
		Text string `json:"text"`
		From struct {
			ID int64 `json:"id"`
		} `json:"from"`
		Chat struct {
			ID   int64  `json:"id"`
			Type string `json:"type"`
		} `json:"chat"`
	} `json:"message"`
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
		b.chat(ctx, message.Chat.ID).updates <- incoming{
			id: fmt.Sprintf("telegram:%d", update.ID), text: message.Text, group: message.Chat.Type != "private", done: done,
		}
	}
	return true
}

// getUpdates asks for the updates from offset on (0: all unacknowledged ones), and waits for one. It acknowledges those
// before.
func (b *Bridge) getUpdates(ctx context.Context, offset int64) (updates []json.RawMessage, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.Poll+patience)
	defer cancel()
	params := map[string]any{"timeout": int(b.Poll.Seconds()), "limit": atOnce, "allowed_updates": []string{"message"}}
	if offset > 0 {
		params["offset"] = offset
	}
	err = b.call(ctx, "getUpdates", params, &updates)
	return updates, err
}

// repoll is how soon Telegram is asked again while all its updates are being processed.
const repoll = time.Second
