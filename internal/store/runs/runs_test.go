package runs

import (
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

func TestRunIsKnownUntilItsEnd(t *testing.T) {
	t.Parallel()
	r, folder := inFolder(t)
	want := Run{Runbook: "restart", Step: "look", State: AtWork, At: storetest.SomeTime()}
	rig.Must(t, r.Put("restart-0", want))
	got, err := r.Load("restart-0")
	rig.Check(t, err == nil && got != nil && *got == want, "%+v, %v", got, err)
	for range 2 {
		rig.Must(t, r.Drop("restart-0"))
	}
	got, err = r.Load("restart-0")
	rig.Check(t, err == nil && got == nil, "%+v, %v", got, err)
	storetest.Write(t, folder+"/restart-0.json", "{")
	_, err = r.Load("restart-0")
	storetest.WantKind(t, "damaged", err, fail.Failed)
	storetest.WantHint(t, err, "events")
}
