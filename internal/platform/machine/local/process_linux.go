package local

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/platform/machine"
)

// process is a pidfd. It becomes readable when the process ends, and the runtime's poller wakes who waits.
type process struct{ pidfd *os.File }

func (kernel) Open(pid int) (machine.Process, error) {
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
	return process{os.NewFile(uintptr(fd), "pidfd")}, nil
}

func (p process) Close() error { return p.pidfd.Close() }

func (p process) Signal(signal syscall.Signal) error {
	raw, err := p.pidfd.SyscallConn()
	if err != nil {
		return err
	}
	var refused error
	err = raw.Control(func(fd uintptr) { refused = unix.PidfdSendSignal(int(fd), signal, nil, 0) })
	if errors.Is(refused, unix.ESRCH) {
		return err
	}
	return errors.Join(err, os.NewSyscallError("pidfd_send_signal", refused))
}

func (p process) Wait(ctx context.Context) error {
	expired := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = p.pidfd.SetReadDeadline(time.Unix(1, 0)) // wakes the wait
		close(expired)
	})
	err := p.await()
	if !stop() {
		<-expired
		_ = p.pidfd.SetReadDeadline(time.Time{}) // for the next wait
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ctx.Err()
	}
	return p.poll(ctx)
}

// poll waits by looking 20 times a second, for when the runtime's poller cannot take one more descriptor.
func (p process) poll(ctx context.Context) error {
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		ended := false
		raw, err := p.pidfd.SyscallConn()
		if err == nil {
			err = raw.Control(func(fd uintptr) { ended = hasEnded(fd) })
		}
		if ended || err != nil {
			return err // it was closed
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (p process) await() error {
	raw, err := p.pidfd.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Read(hasEnded)
}

// hasEnded reports whether the process of a pidfd has ended.
func hasEnded(pidfd uintptr) bool {
	polled := [1]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}} //nolint:gosec // a descriptor fits
	n, err := unix.Poll(polled[:], 0)
	return err == nil && n > 0
}
