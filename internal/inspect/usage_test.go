package inspect

import (
	"os"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/proc"

	"nbs-worker/internal/sim/rig"
)

// Nothing is measured for a start that has no process, has ended, or names one that is not its own: without a
// process to begin with, the sum would be of the whole machine.
func TestOnlyAVerifiedProcessIsMeasured(t *testing.T) {
	t.Parallel()
	me, err := proc.Identify(os.Getpid())
	rig.Must(t, err)
	another := me
	another.StartTicks++
	for what, p := range map[string]*agent.Process{"none": nil, "not there yet": {}, "another one's pid": {Identity: another}} {
		got := usageOf(p)
		rig.Check(t, got == nil, "%s: %+v", what, got)
	}
	got := usageOf(&agent.Process{Identity: me})
	rig.Check(t, got != nil && got.Processes >= 1 && got.RSS > 0, "its own: %+v", got)
}
