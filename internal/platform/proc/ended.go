package proc

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Ending waits for the end of a process without polling: its pidfd becomes readable, and the runtime's poller wakes
// the reader.
type Ending struct{ pidfd *os.File }

// AwaitEnd opens the process that has the pid now. A caller that wants a specific process checks its identity after
// the call. Errors: [os.ErrNotExist] when no process has the pid.
func AwaitEnd(pid int) (*Ending, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil, os.ErrNotExist
	}
	if err != nil {
		return nil, os.NewSyscallError("pidfd_open", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil { // without it os.NewFile does not use the poller
		return nil, errors.Join(os.NewSyscallError("fcntl", err), unix.Close(fd))
	}
	return &Ending{pidfd: os.NewFile(uintptr(fd), "pidfd")}, nil
}

// Wait waits until the process has ended, and returns nil then. After Close it returns an error.
func (e *Ending) Wait() error {
	raw, err := e.pidfd.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Read(func(fd uintptr) bool {
		polled := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}} //nolint:gosec // a descriptor fits
		n, err := unix.Poll(polled[:], 0)
		return err == nil && n > 0
	})
}

// Close releases the process and ends Wait.
func (e *Ending) Close() error { return e.pidfd.Close() }
