package proc

import (
	"os"
	"testing"

	"nbs-worker/internal/sim/rig"
)

func TestUsageCountsDescendants(t *testing.T) {
	t.Parallel()
	c := rig.StartChild(t, rig.Command("parent", "stay"))
	_, _ = c.Said(), c.Said()
	usage := UsageOf(c.Process.Pid)
	rig.Check(t, usage.Processes == 2 && usage.RSS >= 1<<20, "UsageOf = %+v; want 2 processes and some memory", usage)
	none := UsageOf(1 << 30)
	rig.Check(t, none == (Usage{}), "UsageOf of nobody = %+v", none)
}

// What a process has used of a processor and of memory is there.
func TestUsageOfThisProcess(t *testing.T) {
	t.Parallel()
	before := UsageOf(os.Getpid())
	rig.Eventually(t, "its time goes on", func() bool { return UsageOf(os.Getpid()).CPUSeconds > before.CPUSeconds })
	rig.Check(t, before.RSS >= 1<<20, "%+v", before)
}
