package wire

import (
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/recovery/runbook"
)

func TestRunbookThatIsHeldBeforeItsFirstStep(t *testing.T) {
	t.Parallel()
	run := NewRunbookRun(runbook.Found{}, nil, fail.Errorf(fail.Held, "it is to be confirmed"))
	rig.Equal(t, run.Result, "stopped", "result")
}
