package telegram

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"nbs-worker/internal/chat/bridge"
)

// Next implements [bridge.System]: it asks for updates, and waits for one. It acknowledges those that are done.
func (s *System) Next(ctx context.Context) (updates []bridge.Update, err error) {
	offset := s.acks.offset()
	came, err := s.getUpdates(ctx, offset)
	if err != nil {
		if refusedIn(err).Code == http.StatusUnauthorized { // the token was revoked
			return nil, errToken()
		}
		return nil, failed(err)
	}
	s.acks.confirmed(offset)
	isNew := false
	for _, raw := range came {
		update, isTaken := s.take(ctx, raw)
		isNew = isNew || isTaken
		if update != nil {
			updates = append(updates, *update)
		}
	}
	if len(came) > 0 && !isNew {
		if len(came) == atOnce {
			s.log.Once("as many messages as Telegram gives at a time wait for the first of them: until it is kept, no other is seen")
		}
		s.acks.progress(ctx) // all updates are being processed, and would be returned again at once
	}
	return updates, nil
}

// getUpdates asks for the updates from offset on (0: all unacknowledged ones), and waits for one. It acknowledges those
// before.
func (s *System) getUpdates(ctx context.Context, offset int64) (updates []json.RawMessage, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Poll+patience)
	defer cancel()
	params := map[string]any{"timeout": int(s.opts.Poll.Seconds()), "limit": atOnce, "allowed_updates": wantedUpdates}
	if offset > 0 {
		params["offset"] = offset
	}
	err = s.call(ctx, "getUpdates", params, &updates)
	return updates, err
}

// repoll is how soon Telegram is asked again while all its updates are being processed.
const repoll = time.Second
