package proc

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// testOnlyOOM is set by the linker in a binary that simulates kills for lack of memory. It is a folder with a cgroup
// and a mountinfo, which are read instead of the kernel's own.
var testOnlyOOM string

// MemoryWatch remembers how many processes of a memory cgroup the kernel had killed for lack of memory when the
// watched process started.
type MemoryWatch struct {
	counter string // the kernel's file; "": it cannot be read
	before  uint64
}

// WatchMemory begins to watch the cgroup of a process that has just been started. It costs nothing until a kill.
func WatchMemory(pid int) MemoryWatch {
	counter := oomFile(pid)
	before, known := readOOMKills(counter)
	if !known {
		return MemoryWatch{}
	}
	return MemoryWatch{counter: counter, before: before}
}

// Kills returns how many processes the kernel has killed since. The cgroup is shared with tools and other agents:
// that a watched process was among the killed is only probable.
func (w MemoryWatch) Kills() uint64 {
	now, known := readOOMKills(w.counter)
	if w.counter == "" || !known || now < w.before { // another cgroup has taken its place
		return 0
	}
	return now - w.before
}

// readOOMKills reads the line "oom_kill N", which is the same in v1 and v2.
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

// oomPath returns the path at which a file of the kernel is read.
func oomPath(kernel string) string {
	if testOnlyOOM != "" {
		return filepath.Join(testOnlyOOM, filepath.Base(kernel))
	}
	return kernel
}
