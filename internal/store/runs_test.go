package store

import (
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

func TestRunIsKnownUntilItsEnd(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	unlock, err := s.LockRun("restart-0", "restart", storetest.SomeTime())
	rig.Must(t, err)
	_, err = s.LockRun("restart-0", "restart", storetest.SomeTime())
	storetest.WantKind(t, "a second run", err, agent.Conflict)
	unlock()
	want := Run{Runbook: "restart", Step: "look", State: RunAtWork, At: storetest.SomeTime()}
	rig.Must(t, s.PutRun("restart-0", want))
	got, err := s.LoadRun("restart-0")
	rig.Check(t, err == nil && got != nil && *got == want, "%+v, %v", got, err)
	for range 2 {
		rig.Must(t, s.DropRun("restart-0"))
	}
	got, err = s.LoadRun("restart-0")
	rig.Check(t, err == nil && got == nil, "%+v, %v", got, err)
	storetest.Write(t, path(s, runs, "restart-0.json"), "{")
	_, err = s.LoadRun("restart-0")
	storetest.WantKind(t, "damaged", err, agent.Failed)
	storetest.WantHint(t, err, "events")
}
