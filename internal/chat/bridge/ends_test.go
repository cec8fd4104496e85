package bridge

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// many is a system that gives many messages at once, and learns only then which chats are private.
type many struct {
	fake
	first func() []Update // what Next returns, once
	asked chan struct{}   // closed once Owner was called
	once  sync.Once
	began chan struct{} // Start waits for it
	told  chan string
}

func (m *many) Traits() Traits {
	t := m.fake.Traits()
	t.Learns = true
	return t
}

func (m *many) Owner(chat string) string {
	m.once.Do(func() { close(m.asked) })
	select {
	case <-m.began:
		return chat
	default:
		return ""
	}
}

func (m *many) Close() {}

func (m *many) Start(ctx context.Context) (Bot, error) {
	select {
	case <-m.began:
	case <-ctx.Done():
	}
	return Bot{Name: "bot"}, ctx.Err()
}

func (m *many) Next(ctx context.Context) (updates []Update, err error) {
	if m.first != nil {
		updates, m.first = m.first(), nil
		return updates, nil
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

func (m *many) Describe(context.Context, string) (string, error) { return "", nil }
func (m *many) SetMenu(context.Context, bool, []MenuEntry) error { return nil }
func (m *many) Typing(context.Context, Place, bool) error        { return nil }
func (m *many) Format(pieces ...Piece) []Message                 { return []Message{{Text: pieces[0].Text}} }
func (m *many) Send(_ context.Context, _ Place, _ string, s Message) (Sent, error) {
	m.told <- s.Text
	return Sent{Chat: "7", Message: "1"}, nil
}

// stuck is conversations of a full disk.
type stuck struct {
	Chats
	Deliveries
	refused chan struct{}
}

func (s *stuck) Accept(context.Context, Incoming) error {
	select {
	case s.refused <- struct{}{}:
	default:
	}
	return errors.New("no space left on device")
}

func (s *stuck) Status(ctx context.Context, _ string) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

func (s *stuck) Accepted(context.Context, Incoming) ([]string, bool, error) { return nil, false, nil }
func (s *stuck) Moves(context.Context) ([]Move, error)                      { return nil, nil }
func (s *stuck) Undelivered(context.Context) ([]Unfinished, error)          { return nil, nil }

func newMany() *many {
	return &many{began: make(chan struct{}), asked: make(chan struct{}), told: make(chan string, 10)}
}

// A chat of which more waits than the bridge has room for, on a full disk, does not keep the bridge from ending.
func TestABridgeEndsWithAFullChat(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"text", "/status"} {
		m, s := newMany(), &stuck{refused: make(chan struct{}, 1)}
		close(m.began)
		b := New(Options{System: m, Allowed: []string{"7"}, Chats: s, Deliveries: s, Log: func(string) {}})
		ctx, cancel := context.WithCancel(t.Context())
		m.first = func() (updates []Update) {
			for i := range 3 * Backlog {
				updates = append(updates, Update{ID: fmt.Sprint("fake:", i), Done: func() {}, At: Place{Chat: "7"}, Owner: "7", From: Person{ID: "7"}, Text: text})
			}
			b.take(ctx, &Update{ID: "fake:-1", Done: func() {}, At: Place{Chat: "7"}, Owner: "7", From: Person{ID: "7"}, Text: "the first"})
			<-s.refused
			return updates
		}
		ended := make(chan error)
		go func() { ended <- b.Run(ctx) }()
		rig.WaitFor(t, "the chat is full", func() (bool, string) {
			b.mu.Lock()
			defer b.mu.Unlock()
			c := b.chats[Place{Chat: "7"}]
			return c != nil && (len(c.updates) == Backlog || len(c.urgent) == Backlog), ""
		})
		cancel()
		rig.Must(t, <-ended)
	}
}
