// Package machine asks a machine about its processes: it identifies them, reports whether they live and what they left
// behind, and ends them without ever touching another.
//
// A pid is not an identity: it is reused, within a second on a busy machine. A process is named by pid, birth, boot id,
// pid namespace and host together. Birth is when the process started, in the unit of its operating system: on Linux
// clock ticks since the boot, on macOS microseconds. A signal is sent only through a handle that was opened before these
// were checked; macOS has none, and there the birth is compared right before the signal. A zombie is dead.
//
// [Kernel] has the questions that each operating system answers in its own way; what follows from the answers is a
// method of [Machine]. What an operating system cannot answer is [ErrUnknown], never a guess. Package local is the
// machine that this program runs on, and package fake is a table of processes for tests.
//
// The package reads no file of nbs-worker; it knows neither tmux nor Claude Code.
package machine

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// ErrUnknown is the answer to a question that the operating system does not answer.
var ErrUnknown = errors.New("this operating system does not tell")

// Kernel answers for one operating system. A question about a process that has ended is answered with
// [os.ErrNotExist], one that the operating system does not answer with [ErrUnknown].
type Kernel interface {
	System() string // as Go names it: linux or darwin

	Place() (Place, error)
	BootTime() (time.Time, error)    // by the present clock
	Load() (load float64, err error) // processes that ran or wanted to run, averaged over the last minute

	PIDs() ([]int, error)
	Stat(pid int) (Stat, error) // also of a zombie
	Owner(pid int) (uid int, err error)
	Age(birth uint64) (time.Duration, error) // of a process that started then
	Children(pid int) ([]int, error)         // may lack one that was just forked

	Arguments(pid int) ([]byte, error) // each ends with a NUL; none of a zombie
	Environ(pid int) ([]byte, error)   // with which it was started, NAME=VALUE, each ends with a NUL
	Folder(pid int) (string, error)
	Program(pid int) (path string, err error)

	Open(pid int) (Process, error)
	HasOpen(pid int, path string) (bool, error)
	Opened(pid int) (paths []string, err error) // of files and folders, as far as they have a path
	Usage(pid int) (Usage, error)               // of this process, without its children
	Cgroup(pid int) (string, error)
	MemoryKills(pid int) (MemoryKills, error)
}

// Place has the facts that all processes which this program can see share.
type Place struct {
	BootID string
	PIDNS  uint64 // inode of the pid namespace; 0 where there are none
	Host   string
}

// Stat is what a kernel shows of a process at a glance.
type Stat struct {
	Parent   int
	Group    int // the process group, by the pid of its first leader
	Session  int // the session, by the pid of its first leader, which may have ended
	Birth    uint64
	Name     string  // the kernel's, which may be cut short
	Terminal string  // in its usual form, "pts/3"; "": it has none
	CPU      float64 // seconds, user and system, also of children that were waited for
	Gone     bool    // it has ended and waits only to be reaped
	Ending   bool    // it is certain to end: it has ended, is exiting or was sent SIGKILL
	Halted   bool    // it was stopped, as by SIGSTOP, until it is sent SIGCONT
}

// Process is a handle of one process. If another process gets the pid, the handle does not refer to that.
type Process interface {
	// Signal sends a signal to that very process. It returns no error if the process has ended.
	Signal(signal syscall.Signal) error
	// Wait waits until the process has ended, and returns nil then. It returns an error when the context ends or the
	// handle is closed first. It does not poll.
	Wait(ctx context.Context) error
	Close() error
}

// Machine answers questions about the processes of a machine.
type Machine struct {
	kernel Kernel
	place  func() (Place, error)
}

// New returns the machine that a kernel runs.
func New(kernel Kernel) *Machine {
	return &Machine{kernel, onceRead(kernel.Place)} // the place does not change while a process lives
}

// onceRead keeps what was read, and reads again after an error: a process with too many open files may live for
// weeks.
func onceRead[T any](read func() (T, error)) func() (T, error) {
	var known atomic.Pointer[T]
	return func() (T, error) {
		if value := known.Load(); value != nil {
			return *value, nil
		}
		value, err := read()
		if err == nil {
			known.Store(&value)
		}
		return value, err
	}
}

// BootTime returns when the machine came up, in whole seconds, by its present clock.
func (m *Machine) BootTime() (time.Time, error) { return m.kernel.BootTime() }

// Load returns the average number of processes that ran or wanted to run in the last minute, or 0 if that is not
// known; and the number of cores.
func (m *Machine) Load() (load float64, cores int) {
	load, _ = m.kernel.Load()
	return load, runtime.NumCPU()
}

// Patience returns how long to wait on this machine for what usually ends within a limit.
func (m *Machine) Patience(usual time.Duration) time.Duration { return patience(usual, m.Load) }

// patience is the usual limit as long as two processes share a core, and up to ten times as much where more do.
func patience(usual time.Duration, loadOf func() (load float64, cores int)) time.Duration {
	const most = 10
	load, cores := loadOf()
	return time.Duration(min(max(load/float64(2*cores), 1), most) * float64(usual)).Round(time.Second)
}

// Opened reports whether a process has the file open. It fails for a process of another user.
func (m *Machine) Opened(pid int, path string) (bool, error) { return m.kernel.HasOpen(pid, path) }

// Cgroup returns the control group of a process, such as "/user.slice/user-1000.slice/session-3.scope", or "" if it
// is not known.
func (m *Machine) Cgroup(pid int) string {
	group, _ := m.kernel.Cgroup(pid)
	return group
}
