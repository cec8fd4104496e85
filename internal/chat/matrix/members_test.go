package matrix_test

import (
	"strings"
	"testing"

	"nbs-worker/internal/chat/matrix"
	"nbs-worker/internal/sim/rig"
)

// What counts for a message is who was in the room when it was written, not who is there at the end of the sync.
func TestARoomIsWhatItWasWhenAMessageWasWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.begin()
	w.Say(own, ann, "alone")
	w.Join(own, eve)
	w.Say(own, ann, "with Eve")
	w.Say(own, eve, "of Eve")
	w.Leave(own, eve)
	w.Say(own, ann, "alone again")
	w.Join(own, eve)
	got := w.updates(s)
	want := [][2]string{{"alone", ann}, {"", ""}, {"", ""}, {"alone again", ann}}
	rig.Same(t, "updates", len(want), len(got))
	for i, u := range got {
		rig.Same(t, "an update", want[i], [2]string{u.Text, u.Owner})
		u.Done()
	}
	rig.Same(t, "now it is a group", "", s.Owner(own))
}

// It holds for what a sync leaves out too, also after a restart, when only the present members are known.
func TestWhatASyncLeavesOutIsJudgedByItsMembers(t *testing.T) {
	t.Parallel()
	for _, isStarted := range []bool{false, true} {
		w := newWorld(t)
		s := w.begin()
		w.Say(own, ann, "alone")
		w.Join(own, eve)
		w.Know(eve, "Eve")
		w.Join(own, eve) // with her name
		w.Say(own, ann, "with Eve")
		for range 150 {
			w.Say(own, eve, "of Eve")
		}
		if isStarted {
			s = w.open()
			_, err := s.Start(t.Context())
			rig.Must(t, err)
		}
		rig.Same(t, "what is read", "alone", strings.Join(w.next(s), ""))
	}
}

// As help says: in a named room where everyone may write, who is left alone with the bot is in private.
func TestANamedRoomIsPrivateForWhoIsLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.begin(func(o *matrix.Options) { o.Users = nil })
	w.Say(home, bob, "one of two")
	w.Leave(home, ann)
	w.Say(home, bob, "alone")
	got := w.updates(s)
	rig.Same(t, "updates", 2, len(got))
	rig.Same(t, "whose private chat it is", [2]string{"", bob}, [2]string{got[0].Owner, got[1].Owner})
}
