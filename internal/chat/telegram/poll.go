package telegram

import (
	"context"
	"encoding/json"
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
			if len(updates) == atOnce {
				b.once("as many messages as Telegram gives at a time wait for the first of them: until it is kept, no other is seen")
			}
			b.acks.progress(ctx) // all updates are being processed, and would be returned again at once
		}
	}
}

// getUpdates asks for the updates from offset on (0: all unacknowledged ones), and waits for one. It acknowledges those
// before.
func (b *Bridge) getUpdates(ctx context.Context, offset int64) (updates []json.RawMessage, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.Poll+patience)
	defer cancel()
	params := map[string]any{"timeout": int(b.Poll.Seconds()), "limit": atOnce, "allowed_updates": wantedUpdates}
	if offset > 0 {
		params["offset"] = offset
	}
	err = b.call(ctx, "getUpdates", params, &updates)
	return updates, err
}

// repoll is how soon Telegram is asked again while all its updates are being processed.
const repoll = time.Second
