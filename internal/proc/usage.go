package proc

import (
	"context"

	"github.com/shirou/gopsutil/v3/process"
)

// Usage is what processes use of the machine.
type Usage struct {
	RSS        uint64  `json:"rss_bytes"`   // resident memory; shared pages count in each
	CPUSeconds float64 `json:"cpu_seconds"` // user and system, since their start
	Processes  int     `json:"processes"`
}

// UsageOf adds up what a process and its descendants use. Those that end meanwhile
// are left out.
func UsageOf(ctx context.Context, pid int) Usage {
	pids := []int{pid}
	if descendants, err := Descendants(pid); err == nil {
		for _, d := range descendants {
			pids = append(pids, d.PID)
		}
	}
	var sum Usage
	for _, pid := range pids {
		p := &process.Process{Pid: int32(pid)} //nolint:gosec // a pid fits
		memory, err := p.MemoryInfoWithContext(ctx)
		if err != nil {
			continue
		}
		sum.Processes++
		sum.RSS += memory.RSS
		if times, err := p.TimesWithContext(ctx); err == nil {
			sum.CPUSeconds += times.User + times.System
		}
	}
	return sum
}
