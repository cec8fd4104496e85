package store

import (
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// The latest repair is known until it is forgotten. A damaged one is none: what is seen decides.
func TestAttemptIsKnownUntilItIsForgotten(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	unlock, err := s.LockRecovery("recover", storetest.SomeTime())
	rig.Must(t, err)
	_, err = s.LockRecovery("watch", storetest.SomeTime())
	storetest.WantKind(t, "a second one", err, agent.Conflict)
	rig.Check(t, strings.Contains(err.Error(), "already: recover agents, pid "), "%v", err)
	unlock()
	want := Attempt{SessionID: "old", Level: 4, Why: "dead", Begun: storetest.SomeTime()}
	rig.Must(t, s.PutAttempt("Alpha", want))
	got, err := s.Attempt("alpha") // two that differ only in case are one
	rig.Check(t, err == nil && got != nil && *got == want, "%+v, %v", got, err)
	storetest.Write(t, path(s, runs, attemptFile("alpha")), "{")
	got, err = s.Attempt("alpha")
	rig.Check(t, err == nil && got == nil, "%+v, %v", got, err)
	for range 2 {
		rig.Must(t, s.DropAttempt("alpha"))
	}
}
