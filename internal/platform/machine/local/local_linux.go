package local

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/platform/smallfile"
)

// testOnlyBootID is set by the linker in a binary that simulates another boot.
var testOnlyBootID string

func (kernel) Place() (machine.Place, error) {
	boot, err := smallfile.Read("/proc/sys/kernel/random/boot_id", procLimit)
	if err != nil {
		return machine.Place{}, err
	}
	ns, err := os.Stat("/proc/self/ns/pid")
	if err != nil {
		return machine.Place{}, err
	}
	host, err := os.Hostname()
	return machine.Place{BootID: cmp.Or(testOnlyBootID, strings.TrimSpace(string(boot))), PIDNS: ns.Sys().(*syscall.Stat_t).Ino, Host: host}, err
}

func (kernel) BootTime() (time.Time, error) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}, err
	}
	for line := range bytes.Lines(stat) {
		if text, found := bytes.CutPrefix(line, []byte("btime ")); found {
			seconds, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
			return time.Unix(seconds, 0), err
		}
	}
	return time.Time{}, errors.New("/proc/stat has no btime")
}

func (kernel) Age(birth uint64) (time.Duration, error) {
	var up unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &up); err != nil {
		return 0, os.NewSyscallError("clock_gettime", err)
	}
	started := time.Duration(birth) * (time.Second / ticksPerSecond) //nolint:gosec // far below the limit
	return time.Duration(up.Nano()) - started, nil
}

// ticksPerSecond is the clock rate that Linux shows to programs on all machines, whatever the kernel itself uses.
const ticksPerSecond = 100

func (kernel) Load() (float64, error) {
	const one = 1 << 16 // of the kernel's fixed-point numbers
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0, os.NewSyscallError("sysinfo", err)
	}
	return float64(info.Loads[0]) / one, nil
}

func (kernel) PIDs() ([]int, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var found []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			found = append(found, pid)
		}
	}
	return found, nil
}

func (kernel) Owner(pid int) (uid int, err error) {
	info, err := os.Stat(procPath(pid, ""))
	if err != nil {
		return 0, err
	}
	return int(info.Sys().(*syscall.Stat_t).Uid), nil
}

func (kernel) Arguments(pid int) ([]byte, error) { return readProc(pid, "cmdline") }

func (kernel) Environ(pid int) ([]byte, error) { return readProc(pid, "environ") }

func (kernel) Folder(pid int) (string, error) { return os.Readlink(procPath(pid, "cwd")) }

func (kernel) Program(pid int) (path string, err error) {
	const deleted = " (deleted)" // what the kernel appends to the path of a file that has no name any more
	path, err = os.Readlink(procPath(pid, "exe"))
	return strings.TrimSuffix(path, deleted), err
}

// procLimit limits what is read of a file in /proc: an environment may have megabytes.
const procLimit = 8 << 20 // bytes

func readProc(pid int, file string) ([]byte, error) {
	return smallfile.Read(procPath(pid, file), procLimit)
}

func procPath(pid int, file string) string {
	return "/proc/" + strconv.Itoa(pid) + "/" + file
}
