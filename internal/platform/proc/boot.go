package proc

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// BootTime returns when this machine came up, in whole seconds, by its present clock.
func BootTime() (time.Time, error) {
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

// Age returns how long ago a process started. Errors: [os.ErrNotExist].
func Age(pid int) (time.Duration, error) {
	stat, err := readStat(pid)
	if err != nil {
		return 0, err
	}
	var up unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &up); err != nil {
		return 0, os.NewSyscallError("clock_gettime", err)
	}
	started := time.Duration(stat.startTicks) * (time.Second / ticksPerSecond) //nolint:gosec // far below the limit
	return time.Duration(up.Nano()) - started, nil
}

// ticksPerSecond is the clock rate that Linux shows to programs on all machines, whatever the kernel itself uses.
const ticksPerSecond = 100
