package proc

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Usage is what processes use of the machine.
type Usage struct {
	RSS        uint64  `json:"rss_bytes"`   // resident memory; shared pages count in each
	CPUSeconds float64 `json:"cpu_seconds"` // user and system, since their start
	Processes  int     `json:"processes"`
}

// UsageOf adds up what a process and its descendants use. Those that start or end
// meanwhile may be left out.
//
// It reads /proc itself: gopsutil, by which the tests check the numbers, finds out on
// what kind of machine it is before it tells a time, which costs more than all the rest.
func UsageOf(pid int) Usage {
	var sum Usage
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		queue = append(queue, childrenOf(queue[0])...)
		stat, err := readStat(queue[0])
		if err != nil || stat.gone() {
			continue
		}
		sum.Processes++
		sum.RSS += residentBytes(queue[0])
		sum.CPUSeconds += float64(stat.cpuTicks) / ticksPerSecond
	}
	return sum
}

// ticksPerSecond is the same on all Linux machines that programs see, whatever the
// kernel counts by inside.
const ticksPerSecond = 100

// residentBytes is the second field of statm, in pages.
func residentBytes(pid int) uint64 {
	text, err := readProc(pid, "statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseUint(fields[1], 10, 64)
	return pages * uint64(os.Getpagesize()) //nolint:gosec // a page has a size
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
