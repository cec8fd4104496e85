package bridge

import (
	"context"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// What is to be told while the system is not reached yet waits, also if it is not known yet whose private chat it is.
func TestWhatIsToldBeforeTheStartWaits(t *testing.T) {
	t.Parallel()
	m, s := newMany(), &stuck{}
	b := New(Options{System: m, Users: []string{"7"}, Chats: s, Deliveries: s, Log: func(string) {}})
	ended := make(chan error)
	go func() { ended <- b.Tell(t.Context(), "fake:7", "good morning") }()
	<-m.asked
	ctx, cancel := context.WithCancel(t.Context())
	running := make(chan error)
	go func() { running <- b.Run(ctx) }()
	close(m.began)
	rig.Must(t, <-ended)
	rig.Equal(t, <-m.told, "good morning", "told")
	rig.Check(t, fail.KindOf(b.Tell(t.Context(), "fake:8", "no")) == fail.BadInput, "a chat that is not allowed")
	cancel()
	rig.Must(t, <-running)
}
