// Package proc identifies processes, reports whether they live and what they left
// behind, and ends them without ever touching another.
//
// A pid is not an identity: it is reused, within a second on a busy machine. A
// process is named by pid, start ticks, boot id, pid namespace and host together,
// and a signal is sent only through a pidfd that was opened before these were
// checked. gopsutil's create time is not used for this: it has whole seconds and
// changes between two calls. A zombie is dead.
//
// The package reads /proc and nothing of nbs-worker's own files; it knows neither
// tmux nor Claude Code.
package proc

import (
	"cmp"
	"os"
	"strings"
	"sync/atomic"
	"syscall"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/smallfile"
)

// here has the facts that all processes that this program can see share.
type here struct {
	bootID string
	pidNS  uint64
	host   string
}

// place is read once: it does not change while a process lives.
var place = onceRead(func() (here, error) {
	boot, err := smallfile.Read("/proc/sys/kernel/random/boot_id", procLimit)
	if err != nil {
		return here{}, err
	}
	ns, err := os.Stat("/proc/self/ns/pid")
	if err != nil {
		return here{}, err
	}
	host, err := os.Hostname()
	return here{bootID: bootID(boot), pidNS: ns.Sys().(*syscall.Stat_t).Ino, host: host}, err
})

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

// testOnlyBootID is set by the linker in a binary that simulates another boot.
var testOnlyBootID string

func bootID(kernel []byte) string {
	return cmp.Or(testOnlyBootID, strings.TrimSpace(string(kernel)))
}

// Identify returns the identity of a live process. Errors: [os.ErrNotExist] when no process has this pid, or only a
// zombie.
func Identify(pid int) (agent.Identity, error) {
	where, err := place()
	if err != nil {
		return agent.Identity{}, err
	}
	stat, err := readStat(pid)
	if err != nil {
		return agent.Identity{}, err
	}
	if stat.gone() {
		return agent.Identity{}, os.ErrNotExist
	}
	return agent.Identity{
		Identified: agent.Identified{PID: pid, StartTicks: stat.startTicks, PidfdInode: uniqueInode(pid)},
		BootID:     where.bootID, PIDNS: where.pidNS, Host: where.host,
	}, nil
}

// Self returns this process's identity.
func Self() (agent.Identity, error) { return Identify(os.Getpid()) }

// Owner returns the user id of a process, of a zombie too. Errors: [os.ErrNotExist].
func Owner(pid int) (uid int, err error) {
	info, err := os.Stat(procPath(pid, ""))
	if err != nil {
		return 0, err
	}
	return int(info.Sys().(*syscall.Stat_t).Uid), nil
}

// IsOurs reports whether a process belongs to this user. It returns false if that cannot be read.
func IsOurs(pid int) bool {
	uid, err := Owner(pid)
	return err == nil && uid == os.Geteuid()
}
