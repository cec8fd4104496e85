package local

import (
	"os"
	"os/exec"
	"testing"

	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/sim/rig"
)

func TestUsageCountsDescendants(t *testing.T) {
	t.Parallel()
	c := rig.StartChild(t, rig.Command("parent", "stay"))
	_, _ = c.Said(), c.Said()
	usage := here.UsageOf(c.Process.Pid)
	rig.Check(t, usage.Processes == 2 && usage.RSS >= 1<<20, "UsageOf = %+v; want 2 processes and some memory", usage)
	same := here.UsagesOf([]int{1 << 30, c.Process.Pid})
	rig.Check(t, same[0] == machine.Usage{} && same[1].Processes == 2 && same[1].RSS >= 1<<20, "UsagesOf = %+v", same)
	none := here.UsageOf(1 << 30)
	rig.Check(t, none == (machine.Usage{}), "UsageOf of nobody = %+v", none)
}

// A tool's time is in its children, such as the runs of a compiler, most of which have ended. It does not go
// when they do: less at a second look than at a first would say that nothing was done.
func TestUsageCountsWhatEndedChildrenUsed(t *testing.T) {
	t.Parallel()
	const work = `i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done; `
	waited := rig.StartChild(t, exec.Command("sh", "-c", "sh -c '"+work+"exit 0'; echo 1; read x"))
	zombie := rig.StartChild(t, exec.Command("sh", "-c", "sh -c '"+work+"echo 1' & exec sleep 1000"))
	for what, c := range map[string]*rig.Child{"waited for": waited, "a zombie": zombie} {
		c.Said()
		rig.Eventually(t, what, func() bool { return here.UsageOf(c.Process.Pid).Processes == 1 })
		usage := here.UsageOf(c.Process.Pid)
		rig.Check(t, usage.CPUSeconds >= 0.03, "%s: %+v", what, usage)
	}
}

// What a process has used of a processor and of memory is there.
func TestUsageOfThisProcess(t *testing.T) {
	t.Parallel()
	before := here.UsageOf(os.Getpid())
	rig.Eventually(t, "its time goes on", func() bool { return here.UsageOf(os.Getpid()).CPUSeconds > before.CPUSeconds })
	rig.Check(t, before.RSS >= 1<<20, "%+v", before)
}
