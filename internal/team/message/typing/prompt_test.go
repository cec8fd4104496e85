package typing

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/queue"
	"nbs-worker/internal/store/trust"
)

// newQueue is an outbox of an empty project.
func newQueue(t *testing.T) *queue.Queue {
	t.Helper()
	opened, err := store.Create(t.TempDir())
	rig.Must(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	opened.Use(trust.NewKeeper(trust.Home(t.TempDir())))
	return opened.Outbox("alpha")
}

// What a killed command has typed may be drawn only when the next one has found the prompt empty: that takes it away, and
// where it cannot, the one after it still can.
func TestTextOfOursThatIsDrawnLate(t *testing.T) {
	q := newQueue(t)
	synctest.Test(t, func(t *testing.T) {
		for what, c := range map[string]struct {
			drawn, deleted string
			freed          bool
			left           []string
		}{
			"ours": {"/compact", "", true, nil}, "ours, which stays": {"/compact", "/compact", false, []string{"/compact"}},
			"a person's": {"mine", "mine", false, []string{"/compact"}},
		} {
			s := &scripted{left: c.deleted}
			p := Prompt{Terminal: s, queue: q, now: time.Now, left: queue.Left{Invocation: "one", Texts: []string{"/compact"}}}
			_, err := p.Await(t.Context())
			rig.Must(t, err)
			rig.Must(t, p.Begin("hello"))
			s.onText = func() { s.box, s.onText = c.drawn, func() {} }
			s.onEnter = func() { s.box, s.sent = "", accepted }
			submitted, _, err := p.Deliver(t.Context(), "hello", Claude{Sent: func() (transcript.Sent, error) { return s.sent, nil }, Alive: func() bool { return true }})
			got := q.Left("one").Texts
			rig.Check(t, submitted == c.freed && (err == nil) == c.freed && (c.freed || fail.KindOf(err) == fail.Held) && slices.Equal(got, c.left), "%s: freed: %t, %v, %q is left", what, submitted, err, got)
		}
	})
}

// A text of ours behind a blank is taken away whole, though Claude adds to it what looks like a typed character. A claude
// that draws slowly gets each key once. Where a person has typed more, nothing is deleted.
func TestTextOfOursBehindABlank(t *testing.T) {
	q := newQueue(t)
	synctest.Test(t, func(t *testing.T) {
		for drawn, left := range map[string]string{" /clea": "", " /clea it is mine": " /clea it is mine"} {
			s := &scripted{box: drawn, lag: time.Second, ghost: "r", onText: func() {}}
			p := Prompt{Terminal: s, queue: q, now: time.Now, left: queue.Left{Invocation: "one", Texts: []string{"/clea"}}}
			_, _ = p.Await(t.Context())
			rig.Check(t, s.box == left && (len(s.got) == 1) == (left == ""), "of %q, %q is left; typed %q", drawn, s.box, s.got)
		}
	})
}
