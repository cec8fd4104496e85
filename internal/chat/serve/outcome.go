package serve

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/store/conversations"
)

// Accept makes a text durable, and has its turn run. Errors: those of [conversation.Engine.Accept].
func (s *Server) Accept(ctx context.Context, key conversations.Key, say conversation.Say) (conversations.Turn, error) {
	t, _, err := s.Engine.Accept(ctx, key, say)
	if err == nil {
		s.Wake()
	}
	return t, err
}

// Outcome is the state of an accepted turn: one of the two fields is set.
type Outcome struct {
	Result *conversations.Result // it is over
	Held   *conversations.Held   // why the turn, or one before it, is held
}

// Outcome waits until a turn is over, or is held for another reason than told. The server's work loop runs the turn,
// not Outcome. Errors: NotFound; those of the context.
func (s *Server) Outcome(ctx context.Context, key conversations.Key, id string, told *conversations.Held) (Outcome, error) {
	c := s.Engine.Project.Store.Conversations().Of(key)
	again := time.NewTicker(rescan) // for changes by other processes
	defer again.Stop()
	for {
		changed := s.awaitChange()
		result, state, err := c.Look(id)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return Outcome{}, conversation.ErrNone(key)
		case err != nil:
			return Outcome{}, err
		case result != nil:
			return Outcome{Result: result}, nil
		}
		held := s.heldUp(key, &state.Open[0])
		if held != nil && (told == nil || !alike(*held, *told)) {
			return Outcome{Held: held}, nil
		}
		select {
		case <-changed:
		case <-again.C:
		case <-ctx.Done():
			return Outcome{}, ctx.Err()
		}
	}
}

// heldUp returns why the first open turn of a conversation is held; nil if it is not.
func (s *Server) heldUp(key conversations.Key, head *conversations.Turn) *conversations.Held {
	if held := head.Held; held != nil && (held.Until.IsZero() || held.Until.After(s.Engine.Project.Now())) {
		return held
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	begunSince := func(at time.Time) bool { return len(head.Starts) > 0 && head.Starts[len(head.Starts)-1].At.After(at) }
	if held := s.trouble[key]; held.Class != "" && !begunSince(held.At) {
		return &held
	}
	return nil
}

// alike reports whether a person who knows one of the two needs no message about the other.
func alike(a, b conversations.Held) bool {
	if a.Mends && b.Mends { // however often it was tried since
		return causeOf(&a) == causeOf(&b)
	}
	return a.Class == b.Class && a.Reason == b.Reason && a.Until.Equal(b.Until)
}

// causeOf names the cause of a hold. It is told again when its time changes, but not if the time is only that of the
// next of many tries. The class of some failures says nothing.
func causeOf(h *conversations.Held) string {
	switch {
	case h.Mends && h.Class == string(conversation.ClassFailed):
		return h.Class + ": " + h.Reason
	case h.Mends || h.Until.IsZero():
		return h.Class
	}
	return h.Class + " " + h.Until.UTC().Format(time.RFC3339)
}

// awaitChange returns a channel that is closed when a turn has changed.
func (s *Server) awaitChange() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.change
}
