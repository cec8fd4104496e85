package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// Usage is the use of the machine by processes.
type Usage struct {
	RSS        uint64  // resident memory in bytes; shared pages count in each
	CPUSeconds float64 // user and system, since their start; also of their children that have ended
	Read       uint64  // bytes, from disks, since their start
	Written    uint64  // bytes, to disks, since their start
	Processes  int
}

// UsageOf adds up what a process and its descendants use. Processes that start or end during the call may be left
// out.
func UsageOf(pid int) Usage {
	var sum Usage
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		queue = append(queue, childrenOf(queue[0])...)
		stat, err := readStat(queue[0])
		if err != nil {
			continue
		}
		sum.CPUSeconds += float64(stat.usedTicks) / ticksPerSecond
		if !stat.gone() {
			sum.add(queue[0])
		}
	}
	return sum
}

// add counts a process, as far as the kernel reports its usage.
func (u *Usage) add(pid int) {
	u.Processes++
	var size, resident uint64 // in pages
	if statm, err := readProc(pid, "statm"); err == nil {
		_, _ = fmt.Sscan(string(statm), &size, &resident)
		u.RSS += resident * uint64(os.Getpagesize()) //nolint:gosec // it is positive
	}
	io, _ := readProc(pid, "io") // for its owner only
	for line := range bytes.Lines(io) {
		name, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(": "))
		n, _ := strconv.ParseUint(string(value), 10, 64)
		switch string(name) {
		case "read_bytes":
			u.Read += n
		case "write_bytes":
			u.Written += n
		}
	}
}

// childrenOf asks the kernel for the children of a process. The answer may lack a child that was just forked. That is
// good enough for measuring; to end the children of a process, use [Descendants], which looks at all processes.
// childrenOf does so too if the kernel lists no children.
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
