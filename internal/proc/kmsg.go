package proc

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// kernelLog is the kernel's log from a moment on. It is opened at the start of a process,
// so that what it says of a pid is not said of one that had it before.
type kernelLog struct{ fd int }

// openKernelLog returns nil where the log may not be read, or counts other pids than ours.
func openKernelLog() *kernelLog {
	if !inInitialNamespace() {
		return nil
	}
	fd, err := openQuiet(oomPath("/dev/kmsg"))
	if err != nil {
		return nil
	}
	if _, err := unix.Seek(fd, 0, unix.SEEK_END); err != nil {
		_ = unix.Close(fd)
		return nil
	}
	return &kernelLog{fd: fd}
}

func (l *kernelLog) close() { _ = unix.Close(l.fd) }

// oomVictim is how all kernels since 2.6 end a decision of the OOM killer, which they log
// without a limit of rate.
var oomVictim = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)out of memory[^\n]*: Kill(?:ed)? process (\d+) `)
})

// names tells whether the log says that the kernel killed the process for want of memory.
// It is complete unless records were lost, or could not be read: then a silence is no answer.
func (l *kernelLog) names(pid int) (named, complete bool) {
	const recordLimit = 8 << 10 // bytes, of the kernel's
	record := make([]byte, recordLimit)
	complete = true
	for {
		n, err := unix.Read(l.fd, record)
		switch {
		case errors.Is(err, unix.EPIPE):
			complete = false // the ring has gone round; what follows is the oldest left
			continue
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN) || err == nil && n == 0:
			return false, complete
		case err != nil:
			return false, false
		}
		if victimOf(record[:n]) == pid {
			return true, true
		}
	}
}

// victimOf is the pid that a record of the log says was killed, or 0. What a program wrote
// into the log is not the kernel's word.
func victimOf(record []byte) int {
	head, text, _ := bytes.Cut(record, []byte(";"))
	priority, _, _ := bytes.Cut(head, []byte(","))
	const facilities = 8 // a priority is a facility, times eight, and a level; the kernel's facility is 0
	if level, err := strconv.Atoi(string(priority)); err != nil || level >= facilities {
		return 0
	}
	match := oomVictim().FindSubmatch(text)
	if match == nil {
		return 0
	}
	pid, _ := strconv.Atoi(string(match[1]))
	return pid
}
