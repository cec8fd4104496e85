package bridge

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"nbs-worker/internal/sim/rig"
)

// gated is a system that sends a message when the test lets it.
type gated struct {
	fake
	gate chan struct{}

	mu   sync.Mutex
	sent []string
}

// Format makes a message of each word.
func (*gated) Format(pieces ...Piece) (messages []Message) {
	for _, p := range pieces {
		for word := range strings.FieldsSeq(p.Text) {
			messages = append(messages, Message{Text: word})
		}
	}
	return messages
}

func (g *gated) Send(_ context.Context, _ Place, _ string, m Message) (Sent, error) {
	g.mu.Lock()
	g.sent = append(g.sent, m.Text)
	g.mu.Unlock()
	<-g.gate
	return Sent{Message: "1"}, nil
}

// What is told to a chat unasked does not come between the parts of a long answer.
func TestWhatIsToldDoesNotCutALongAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &gated{gate: make(chan struct{})}
		b := New(Options{System: g, Allowed: []string{"7"}, Log: func(string) {}})
		c := &chat{place: Place{Chat: "7"}, writing: b.turnOf(Place{Chat: "7"}), changed: make(chan struct{})}
		var all sync.WaitGroup
		all.Go(func() { rig.Check(t, b.say(t.Context(), c, "a b c") == nil, "it was not said") })
		synctest.Wait()
		all.Go(func() { rig.Check(t, b.Tell(t.Context(), "fake:7", "news") == nil, "it was not told") })
		synctest.Wait()
		close(g.gate)
		all.Wait()
		rig.Check(t, slices.Equal(g.sent, []string{"a", "b", "c", "news"}), "the chat was sent %q", g.sent)
	})
}

// Who waits for the turn of a chat does so until the context ends.
func TestWhoWaitsForATurnGivesUp(t *testing.T) {
	t.Parallel()
	one := make(turn, 1)
	ctx, cancel := context.WithCancel(t.Context())
	err := one.during(ctx, func() error {
		cancel()
		return one.during(ctx, func() error { return nil })
	})
	rig.Check(t, errors.Is(err, context.Canceled), "%v", err)
}
