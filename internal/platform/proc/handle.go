package proc

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
)

// Handle refers to one process by its pidfd. If another process gets the pid between a check and a signal, the signal
// does not reach it.
type Handle struct{ pidfd int }

// Open opens the identified process. The handle is nil if the process is not Alive.
func Open(id agent.Identity) (*Handle, Liveness, error) {
	if liveness, err := Check(id); liveness != Alive {
		return nil, liveness, err
	}
	// The pidfd is opened before the check that counts, so the check is about the very process that the pidfd refers
	// to.
	fd, err := unix.PidfdOpen(id.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil, Gone, nil
	}
	if err != nil {
		return nil, Unsure, os.NewSyscallError("pidfd_open", err)
	}
	if liveness, err := Check(id); liveness != Alive {
		return nil, liveness, errors.Join(err, unix.Close(fd))
	}
	return &Handle{pidfd: fd}, Alive, nil
}

// Close releases the process.
func (h *Handle) Close() error { return unix.Close(h.pidfd) }

// Signal sends a signal to that very process. It returns no error if the process has ended.
func (h *Handle) Signal(signal unix.Signal) error {
	err := unix.PidfdSendSignal(h.pidfd, signal, nil, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return os.NewSyscallError("pidfd_send_signal", err)
}

// Wait waits until the process has ended, and returns nil then. If the context ends first, it returns the context's
// error.
func (h *Handle) Wait(ctx context.Context) error {
	const slice = 50 * time.Millisecond // how late a cancelled context may be noticed
	for {
		polled := []unix.PollFd{{Fd: int32(h.pidfd), Events: unix.POLLIN}} //nolint:gosec // a descriptor fits
		n, err := unix.Poll(polled, int(slice/time.Millisecond))
		if n > 0 {
			return nil
		}
		if err != nil && !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("poll", err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// WaitGone waits at most for the patience until a process has ended. The caller checks whether it did.
func WaitGone(ctx context.Context, id agent.Identity, patience time.Duration) {
	if patience <= 0 {
		return
	}
	h, liveness, err := Open(id)
	if err != nil || liveness != Alive {
		return
	}
	defer h.Close()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_ = h.Wait(ctx)
}
