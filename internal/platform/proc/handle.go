package proc

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
)

// Handle is one process by its pidfd: a signal cannot reach another process that
// gets the pid between a check and the signal.
type Handle struct{ pidfd int }

// Open takes hold of the identified process. When it is not Alive, the handle is nil.
func Open(id agent.Identity) (*Handle, Liveness, error) {
	if liveness, err := Check(id); liveness != Alive {
		return nil, liveness, err
	}
	// The pidfd is opened before the check that counts: that is a check of the very process that it holds.
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

// Close lets go of the process.
func (h *Handle) Close() error { return unix.Close(h.pidfd) }

// Signal sends a signal to that very process. One that has ended is no error.
func (h *Handle) Signal(signal unix.Signal) error {
	err := unix.PidfdSendSignal(h.pidfd, signal, nil, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return os.NewSyscallError("pidfd_send_signal", err)
}

// Wait returns when the process has ended: nil then, else the context's error.
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

// WaitGone waits for a process to end, as long as the patience lasts. The caller checks whether it
// did.
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
