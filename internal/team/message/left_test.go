package message

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/queue"
)

// What a killed command has typed may be drawn only when the next one has found the prompt empty: that takes it away, and
// where it cannot, the one after it still can.
func TestTextOfOursThatIsDrawnLate(t *testing.T) {
	q := newSender(t).project.Store.Outbox("alpha")
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
			p := prompt{Terminal: s, queue: q, left: queue.Left{Invocation: "one", Texts: []string{"/compact"}}}
			_, err := p.await(t.Context(), time.Now())
			rig.Must(t, err)
			rig.Must(t, p.typing("hello", time.Now()))
			s.onText = func() { s.box = c.drawn }
			d := delivery{Terminal: p, text: "hello"}
			word, _, err := d.run(t.Context())
			rig.Check(t, word == Held && fail.KindOf(err) == fail.Held, "%s: %s, %v", what, word, err)
			freed := p.isFreed(t.Context(), err, time.Now())
			word, kept := Held, error(nil)
			if freed {
				word = Accepted
			}
			kept = p.typed(word, err)
			got := q.Left("one").Texts
			rig.Check(t, freed == c.freed && kept == nil && slices.Equal(got, c.left), "%s: freed: %t, %v, %q is left", what, freed, kept, got)
		}
	})
}

// A text of ours behind a blank is taken away whole, though Claude adds to it what looks like a typed character. A claude
// that draws slowly gets each key once. Where a person has typed more, nothing is deleted.
func TestTextOfOursBehindABlank(t *testing.T) {
	q := newSender(t).project.Store.Outbox("alpha")
	synctest.Test(t, func(t *testing.T) {
		for drawn, left := range map[string]string{" /clea": "", " /clea it is mine": " /clea it is mine"} {
			s := &scripted{box: drawn, lag: time.Second, ghost: "r", onText: func() {}}
			p := prompt{Terminal: s, queue: q, left: queue.Left{Invocation: "one", Texts: []string{"/clea"}}}
			_, _ = p.await(t.Context(), time.Now())
			rig.Check(t, s.box == left && (len(s.got) == 1) == (left == ""), "of %q, %q is left; typed %q", drawn, s.box, s.got)
		}
	})
}
