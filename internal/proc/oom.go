package proc

import (
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// oomSettle is how long before its end the kernel may have decided to kill a process. A
// killed process of a gigabyte is gone within a second.
const oomSettle = 2 * time.Second

// initialPIDNS is the inode of the pid namespace that the kernel's log counts pids in.
const initialPIDNS = 0xEFFFFFFC

// testOnlyOOM is set by the linker in a binary that plays what this machine does not do:
// a folder with a cgroup, a mountinfo and a kmsg to be read instead of the kernel's own.
var testOnlyOOM string

// MemoryWatch remembers what the kernel had killed for want of memory when a process
// started, in order to tell later whether it was among those killed since.
type MemoryWatch struct {
	pid     int
	counter *oomCounter // nil: its memory cgroup cannot be read
	log     *kernelLog  // nil: the kernel's log cannot be read
}

// WatchMemory begins to watch a process that has just been started. It costs nothing while
// nothing happens; what cannot be read is not watched.
func WatchMemory(pid int) *MemoryWatch {
	return &MemoryWatch{pid: pid, counter: openCounter(pid), log: openKernelLog()}
}

// OOM is what the kernel did for want of memory while a process was watched.
type OOM struct {
	Kills  uint64 // of processes of its memory cgroup
	Killed bool   // the watched process was one of them
}

// End ends the watch of a process that has ended; killed tells whether by SIGKILL. Kernel
// and people use that signal alike, and a cgroup is shared with tools and with other
// agents: it was the kernel only if its log names the process, or, where nobody but root
// may read the log, if the counter rose at the very moment of the end.
func (w *MemoryWatch) End(killed bool) OOM {
	defer w.close()
	var seen OOM
	fresh := false
	if w.counter != nil {
		seen.Kills, fresh = w.counter.sinceStart()
	}
	if !killed {
		return seen
	}
	if w.log != nil {
		if named, complete := w.log.names(w.pid); named || complete {
			seen.Killed = named
			return seen
		}
	}
	seen.Killed = fresh
	return seen
}

func (w *MemoryWatch) close() {
	if w.counter != nil {
		w.counter.close()
	}
	if w.log != nil {
		w.log.close()
	}
}

// oomPath is where a file of the kernel's is read.
func oomPath(kernel string) string {
	if testOnlyOOM != "" {
		return filepath.Join(testOnlyOOM, filepath.Base(kernel))
	}
	return kernel
}

// openQuiet opens a file for reads that do not wait.
func openQuiet(path string) (int, error) {
	return unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
}

func inInitialNamespace() bool {
	var stat unix.Stat_t
	return unix.Stat("/proc/self/ns/pid", &stat) == nil && stat.Ino == initialPIDNS || testOnlyOOM != ""
}

func readable(path string) bool {
	_, err := os.ReadFile(path)
	return err == nil
}
