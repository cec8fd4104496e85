package proc

import (
	"os"
	"testing"

	"github.com/shirou/gopsutil/v3/process"

	"nbs-worker/internal/sim/rig"
)

func TestUsageCountsDescendants(t *testing.T) {
	t.Parallel()
	c := rig.StartChild(t, rig.Command("parent", "stay"))
	_, _ = c.Said(), c.Said()
	usage := UsageOf(c.Process.Pid)
	if usage.Processes != 2 || usage.RSS < 1<<20 {
		t.Errorf("UsageOf = %+v; want 2 processes and some memory", usage)
	}
	if none := UsageOf(1 << 30); none != (Usage{}) {
		t.Errorf("UsageOf of nobody = %+v", none)
	}
}

// The numbers are those that gopsutil tells of a process, which changes between two looks
// at it: what it had before, or has afterwards.
func TestUsageIsWhatOthersMeasure(t *testing.T) {
	t.Parallel()
	p, err := process.NewProcess(int32(os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	rig.Eventually(t, "both tell the same", func() bool {
		stat, err := readStat(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		resident := residentBytes(os.Getpid())
		memory, err := p.MemoryInfo()
		if err != nil {
			t.Fatal(err)
		}
		times, err := p.Times()
		if err != nil {
			t.Fatal(err)
		}
		seconds := float64(stat.cpuTicks) / ticksPerSecond
		return resident == memory.RSS && times.User+times.System-seconds < 0.1
	})
}
