package runs

import (
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// The latest repair is known until it is forgotten. A damaged one is none: what is seen decider.
func TestAttemptIsKnownUntilItIsForgotten(t *testing.T) {
	t.Parallel()
	r, folder := inFolder(t)
	want := Attempt{SessionID: "old", Level: 4, Why: "dead", Begun: storetest.SomeTime()}
	rig.Must(t, r.PutAttempt("Alpha", want))
	got, err := r.Attempt("alpha") // two that differ only in case are one
	rig.Check(t, err == nil && got != nil && *got == want, "%+v, %v", got, err)
	storetest.Write(t, folder+"/"+attemptFile("alpha"), "{")
	got, err = r.Attempt("alpha")
	rig.Check(t, err == nil && got == nil, "%+v, %v", got, err)
	for range 2 {
		rig.Must(t, r.DropAttempt("alpha"))
	}
}

// An attempt that came with the project, was changed, or is of another agent, is none: it would say
// what was permitted, and words to an agent.
func TestAttemptThatNobodyVouchesForIsNone(t *testing.T) {
	t.Parallel()
	r, folder := inFolder(t)
	want := Attempt{SessionID: "old", Level: 4, Why: "it said \xff", Begun: storetest.SomeTime()}
	rig.Must(t, r.PutAttempt("alpha", want))
	got, err := r.Attempt("alpha")
	rig.Check(t, err == nil && got != nil && got.Why == "it said �", "%+v, %v", got, err)
	written := storetest.Read(t, folder+"/"+attemptFile("alpha"))
	for what, text := range map[string]string{
		"another reason": strings.Replace(written, "it said", "run this", 1),
		"no seal":        `{"session_id": "old", "level": 4, "why": "dead"}`,
	} {
		storetest.Write(t, folder+"/"+attemptFile("alpha"), text)
		got, err := r.Attempt("alpha")
		rig.Check(t, err == nil && got == nil, "%s: %+v, %v", what, got, err)
	}
	storetest.Write(t, folder+"/"+attemptFile("beta"), written)
	got, err = r.Attempt("beta")
	rig.Check(t, err == nil && got == nil, "of another agent: %+v, %v", got, err)
}
