package serve

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
)

// Accept makes a text durable, and has it answered in its turn. Errors: as of [conversation.Engine.Accept].
func (s *Server) Accept(ctx context.Context, key conversations.Key, say conversation.Say) (conversations.Turn, error) {
	t, _, err := s.Engine.Accept(ctx, key, say)
	if err == nil {
		s.Wake()
	}
	return t, err
}

// Outcome is how an accepted turn stands: one of the two is set.
type Outcome struct {
	Result *conversations.Result // it is over
	Held   *conversations.Held   // why it, or a turn before it, does not go on
}

// Outcome waits until a turn is over, or held up for another reason than told. It does not run the turn: the server's
// work does. Errors: NotFound; those of the context.
func (s *Server) Outcome(ctx context.Context, key conversations.Key, id string, told *conversations.Held) (Outcome, error) {
	c := s.Engine.Store.Conversations().Of(key)
	again := time.NewTicker(rescan) // for what other processes do
	defer again.Stop()
	for {
		changed := s.awaitChange()
		result, over, err := c.Result(id)
		if err != nil {
			return Outcome{}, err
		}
		if over {
			return Outcome{Result: &result}, nil
		}
		held, err := s.heldUp(c, id)
		if err != nil {
			return Outcome{}, err
		}
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

// heldUp is why the turn with the id does not go on; nil when nothing is in its way.
func (s *Server) heldUp(c *conversations.Conversation, id string) (*conversations.Held, error) {
	state, err := c.State()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, conversation.ErrNone(c.Key())
	}
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(state.Open, func(t conversations.Turn) bool { return t.ID == id }) {
		if _, over, err := c.Result(id); over || err != nil { // it has just come to its end
			return nil, err
		}
		return nil, fail.Errorf(fail.NotFound, "no turn with the id %s was accepted, or its answer is forgotten", human.Quote(id))
	}
	head := &state.Open[0]
	if held := head.Held; held != nil && (held.Until.IsZero() || held.Until.After(s.Engine.Now())) {
		return held, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	begunSince := func(at time.Time) bool { return len(head.Starts) > 0 && head.Starts[len(head.Starts)-1].At.After(at) }
	if held := s.trouble[c.Key()]; held.Class != "" && !begunSince(held.At) {
		return &held, nil
	}
	return nil, nil //nolint:nilnil // nothing failed, and nothing is in its way
}

// alike tells whether a person who knows the one need not be told the other.
func alike(a, b conversations.Held) bool {
	return a.Class == b.Class && a.Reason == b.Reason && a.Until.Equal(b.Until)
}

// awaitChange returns a channel that is closed when a turn has changed.
func (s *Server) awaitChange() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.change
}
