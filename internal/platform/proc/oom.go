package proc

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// testOnlyOOM is set by the linker in a binary that simulates kills for want of memory: a
// folder with a cgroup and a mountinfo to be read instead of the kernel's own.
var testOnlyOOM string

// MemoryWatch remembers how many processes of a memory cgroup the kernel had killed for want of
// memory when the watched process started.
type MemoryWatch struct {
	counter string // the kernel's file; "": it cannot be read
	before  uint64
}

// WatchMemory begins to watch the cgroup of a process that has just been started. It costs
// nothing while nothing happens.
func WatchMemory(pid int) MemoryWatch {
	counter := oomFile(pid)
	before, known := readOOMKills(counter)
	if !known {
		return MemoryWatch{}
	}
	return MemoryWatch{counter: counter, before: before}
}

// Kills is how many processes the kernel has killed since. The cgroup is shared with tools and
// other agents: a watched process that was killed meanwhile is probably one of them, no more.
func (w MemoryWatch) Kills() uint64 {
	now, known := readOOMKills(w.counter)
	if w.counter == "" || !known || now < w.before { // another cgroup has taken its place
		return 0
	}
	return now - w.before
}

// readOOMKills reads the line "oom_kill N", which v1 and v2 have alike.
func readOOMKills(path string) (count uint64, known bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(text) {
		if number, found := bytes.CutPrefix(line, []byte("oom_kill ")); found {
			count, err := strconv.ParseUint(string(bytes.TrimSpace(number)), 10, 64)
			return count, err == nil
		}
	}
	return 0, false
}

// oomPath is where a file of the kernel's is read.
func oomPath(kernel string) string {
	if testOnlyOOM != "" {
		return filepath.Join(testOnlyOOM, filepath.Base(kernel))
	}
	return kernel
}
