package bridge

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

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
	refused chan string // the keys of messages
	stopped chan struct{}
}

func (s *stuck) Accept(_ context.Context, m Incoming) error {
	select {
	case s.refused <- m.Key:
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
	return &many{began: make(chan struct{}), asked: make(chan struct{}), told: make(chan string, 1000)}
}

func (s *stuck) Interrupt(context.Context, string, string, string, func(string) bool) (Interruption, error) {
	s.stopped <- struct{}{}
	return Interruption{}, nil
}

func (s *stuck) NoteReplying(context.Context, string, string) (again, over bool, err error) {
	return false, false, errors.New("no space left on device")
}

// A chat of which very much waits, on a full disk, keeps the bridge neither from its /stop, nor from another chat, nor from
// ending.
func TestAFullChatDelaysNothingElse(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"text", "/status"} {
		synctest.Test(t, func(t *testing.T) {
			m, s := newMany(), &stuck{refused: make(chan string, 1000), stopped: make(chan struct{}, 1)}
			close(m.began)
			b := New(Options{System: m, Allowed: []string{"7", "8"}, Chats: s, Deliveries: s, Log: func(string) {}})
			ctx, cancel := context.WithCancel(t.Context())
			m.first = func() (updates []Update) {
				say := func(chat, text string) {
					updates = append(updates, Update{ID: fmt.Sprint("fake:", len(updates)), Done: func() {}, At: Place{Chat: chat}, Owner: chat, From: Person{ID: chat}, Text: text})
				}
				say("7", "the first")
				for range 300 {
					say("7", text)
				}
				if text == "text" {
					say("7", "/stop")
				}
				say("8", "hello")
				return updates
			}
			ended := make(chan error)
			go func() { ended <- b.Run(ctx) }()
			for key := ""; key != "fake:8"; {
				key = <-s.refused
			}
			if text == "text" {
				<-s.stopped
			}
			cancel()
			rig.Must(t, <-ended)
		})
	}
}
