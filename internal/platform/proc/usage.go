package proc

import (
	"bytes"
	"os"
	"strconv"

	"github.com/shirou/gopsutil/v3/process"
)

// Usage is what processes use of the machine.
type Usage struct {
	RSS        uint64  // resident memory in bytes; shared pages count in each
	CPUSeconds float64 // user and system, since their start; also of their children that have ended
	Read       uint64  // bytes, from disks, since their start
	Written    uint64  // bytes, to disks, since their start
	Processes  int
}

// UsageOf adds up what a process and its descendants use. Those that start or end
// meanwhile may be left out.
func UsageOf(pid int) Usage {
	var sum Usage
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		queue = append(queue, childrenOf(queue[0])...)
		stat, err := readStat(queue[0])
		if err != nil {
			continue
		}
		sum.CPUSeconds += float64(stat.usedTicks) / ticksPerSecond // gopsutil's Times asks what kind of machine this is, in 0.4 ms
		if !stat.gone() {
			sum.add(&process.Process{Pid: int32(queue[0])}) //nolint:gosec // a pid fits
		}
	}
	return sum
}

// add counts a process, as far as the kernel tells what it uses.
func (u *Usage) add(p *process.Process) {
	u.Processes++
	if memory, err := p.MemoryInfo(); err == nil {
		u.RSS += memory.RSS
	}
	if io, err := p.IOCounters(); err == nil {
		u.Read += io.ReadBytes
		u.Written += io.WriteBytes
	}
}

// childrenOf asks the kernel for the children of a process. The answer may lack one that
// was just forked, which is good enough for measuring; for ending what a process leaves
// behind, [Descendants] looks at all processes. So does this where the kernel lists no children.
func childrenOf(pid int) []int {
	threads, err := os.ReadDir(procPath(pid, "task"))
	var children []int
	for _, thread := range threads {
		text, failed := readProc(pid, "task/"+thread.Name()+"/children")
		if failed != nil {
			err = failed // the thread has ended, or the kernel has no such file
			continue
		}
		for word := range bytes.FieldsSeq(text) {
			if child, err := strconv.Atoi(string(word)); err == nil {
				children = append(children, child)
			}
		}
	}
	if children == nil && err != nil {
		all, _ := childrenByParent()
		for _, child := range all[pid] {
			children = append(children, child.pid)
		}
	}
	return children
}
