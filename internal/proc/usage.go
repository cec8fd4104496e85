package proc

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"

	"github.com/shirou/gopsutil/v3/process"
)

// Usage is what processes use of the machine.
type Usage struct {
	RSS        uint64  `json:"rss_bytes"`   // resident memory; shared pages count in each
	CPUSeconds float64 `json:"cpu_seconds"` // user and system, since their start
	Processes  int     `json:"processes"`
}

// UsageOf adds up what a process and its descendants use. Those that start or end
// meanwhile may be left out.
func UsageOf(ctx context.Context, pid int) Usage {
	var sum Usage
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		queue = append(queue, childrenOf(queue[0])...)
		p := &process.Process{Pid: int32(queue[0])} //nolint:gosec // a pid fits
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

// childrenOf asks the kernel for the children of a process. The answer may lack one that
// was just forked, which is good enough to measure by; to end what a process leaves
// behind, [Descendants] looks at all. Where the kernel cannot say it, so does this.
func childrenOf(pid int) []int {
	lists, _ := filepath.Glob(procPath(pid, "task/*/children")) // the pattern is well formed
	if len(lists) == 0 {
		all, _ := childrenByParent()
		return all[pid]
	}
	var children []int
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for word := range bytes.FieldsSeq(text) {
			if child, err := strconv.Atoi(string(word)); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}
