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

// An attempt that came with the project, was changed, or is of another agent, is none: it would say
// what was permitted, and words to an agent.
func TestAttemptThatNobodyVouchesForIsNone(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	want := Attempt{SessionID: "old", Level: 4, Why: "it said \xff", Begun: storetest.SomeTime()}
	rig.Must(t, s.PutAttempt("alpha", want))
	got, err := s.Attempt("alpha")
	rig.Check(t, err == nil && got != nil && got.Why == "it said �", "%+v, %v", got, err)
	written := storetest.Read(t, path(s, runs, attemptFile("alpha")))
	for what, text := range map[string]string{
		"another reason": strings.Replace(written, "it said", "run this", 1),
		"no seal":        `{"session_id": "old", "level": 4, "why": "dead"}`,
	} {
		storetest.Write(t, path(s, runs, attemptFile("alpha")), text)
		got, err := s.Attempt("alpha")
		rig.Check(t, err == nil && got == nil, "%s: %+v, %v", what, got, err)
	}
	storetest.Write(t, path(s, runs, attemptFile("beta")), written)
	got, err = s.Attempt("beta")
	rig.Check(t, err == nil && got == nil, "of another agent: %+v, %v", got, err)
}
