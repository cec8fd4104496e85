package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// update is what the bot asks for with getUpdates.
type update struct {
	id      int64
	kind    string // message, edited_message, callback_query, my_chat_member
	content any
}

// MarshalJSON writes the update as the Bot API does.
func (u update) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"update_id": u.id, u.kind: u.content})
}

// kinds are all that a bot may ask for; unasked are those that it does not get unless it asks.
var (
	kinds = []string{
		"message", "edited_message", "channel_post", "edited_channel_post", "business_connection", "business_message", "edited_business_message",
		"deleted_business_messages", "message_reaction", "message_reaction_count", "inline_query", "chosen_inline_result", "callback_query", "shipping_query",
		"pre_checkout_query", "purchased_paid_media", "poll", "poll_answer", "my_chat_member", "chat_member", "chat_join_request", "chat_boost", "removed_chat_boost",
	}
	unasked = []string{"chat_member", "message_reaction", "message_reaction_count"}
)

// queue makes an update, unless the bot does not want this kind. The lock is held.
func (s *Server) queue(kind string, content any) {
	wanted := slices.Contains(s.allowed, kind)
	if len(s.allowed) == 0 {
		wanted = !slices.Contains(unasked, kind)
	}
	if !wanted {
		return
	}
	s.numbered++
	s.updates = append(s.updates, update{s.numbered, kind, content})
	s.Change()
}

// Repeat gives the bot an update that cannot be read, or one that no test API makes: content is its field kind.
func (s *Server) Repeat(kind string, content any) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.numbered++
	s.updates = append(s.updates, update{s.numbered, kind, content})
	s.Change()
}

func (s *Server) getUpdates(w http.ResponseWriter, r *http.Request, p params) {
	offset, _ := strconv.ParseInt(p.get("offset"), 10, 64) // 0 when it is not given
	seconds, _ := strconv.Atoi(p.get("timeout"))
	limit, err := strconv.Atoi(p.get("limit"))
	if err != nil || limit < 1 || limit > 100 {
		limit = 100
	}
	poll, end := context.WithCancel(r.Context())
	defer end()
	wait, done := context.WithTimeout(poll, time.Duration(seconds)*time.Second)
	defer done()

	s.Mu.Lock()
	if s.webhook != "" {
		s.Mu.Unlock()
		refuse(w, http.StatusConflict, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first", 0)
		return
	}
	s.setAllowed(p)
	if s.poller != nil {
		s.poller()
	}
	s.poller = end
	if offset < 0 {
		s.updates = s.updates[max(0, len(s.updates)+int(offset)):]
	}
	for len(s.updates) > 0 && s.updates[0].id < offset {
		s.updates = s.updates[1:]
		s.Change()
	}
	s.Mu.Unlock()

	s.AwaitChange(wait, func() bool { return len(s.updates) > 0 })
	if poll.Err() != nil {
		refuse(w, http.StatusConflict, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running", 0)
		return
	}
	s.Mu.Lock()
	updates := append([]update{}, s.updates[:min(len(s.updates), limit)]...)
	s.Mu.Unlock()
	accept(w, updates)
}

// setAllowed notes what the bot wants to get from now on; without the parameter, what it wanted before. The lock is held.
func (s *Server) setAllowed(p params) {
	if !p.has("allowed_updates") {
		return
	}
	var allowed []string
	if err := json.Unmarshal([]byte(p.get("allowed_updates")), &allowed); err != nil {
		s.Fault("getUpdates: allowed_updates is no list of words: %v", err)
		return
	}
	for _, kind := range allowed {
		if !slices.Contains(kinds, kind) {
			s.Fault("getUpdates: there is no update of kind %q", kind)
		}
	}
	s.allowed = allowed
}

// SetWebhook has the bot's updates go to an address, as another program of its owner's may have asked; "" undoes that.
func (s *Server) SetWebhook(url string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.webhook = url
}

func (s *Server) getWebhookInfo(params) (any, *refusal) {
	return map[string]any{"url": s.webhook, "has_custom_certificate": false, "pending_update_count": len(s.updates)}, nil
}

func (s *Server) deleteWebhook(p params) (any, *refusal) {
	s.webhook = ""
	if p.is("drop_pending_updates") {
		s.updates = nil
		s.Change()
	}
	return true, nil
}

// AwaitAcknowledged waits until every update is acknowledged.
func (s *Server) AwaitAcknowledged(ctx context.Context) error {
	if !s.AwaitChange(ctx, func() bool { return len(s.updates) == 0 }) {
		return fmt.Errorf("wait for acknowledgement: %w", ctx.Err())
	}
	return nil
}
