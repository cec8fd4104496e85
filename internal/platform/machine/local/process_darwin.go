package local

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/platform/machine"
)

// process is a kqueue that reports the end of one process. macOS has no handle through which a signal reaches only
// that process: its birth is compared right before a signal is sent.
type process struct {
	pid   int
	birth uint64
	queue int

	closed  atomic.Bool
	waiting sync.WaitGroup // Close lets them leave before it closes the queue
}

func (kernel) Open(pid int) (machine.Process, error) {
	queue, err := unix.Kqueue()
	if err != nil {
		return nil, os.NewSyscallError("kqueue", err)
	}
	unix.CloseOnExec(queue)
	changes := make([]unix.Kevent_t, 2)
	unix.SetKevent(&changes[0], pid, unix.EVFILT_PROC, unix.EV_ADD)
	changes[0].Fflags = unix.NOTE_EXIT
	unix.SetKevent(&changes[1], 0, unix.EVFILT_USER, unix.EV_ADD|unix.EV_CLEAR)
	p := &process{pid: pid, queue: queue}
	if _, err = unix.Kevent(queue, changes, nil, nil); err == nil {
		var info kinfo
		if info, err = kinfoOf(pid); err == nil {
			p.birth = info.birth
			return p, nil
		}
	}
	if errors.Is(err, unix.ESRCH) {
		err = os.ErrNotExist
	}
	return nil, errors.Join(err, unix.Close(queue))
}

func (p *process) Signal(signal syscall.Signal) error {
	if info, err := kinfoOf(p.pid); errors.Is(err, os.ErrNotExist) || err == nil && info.birth != p.birth {
		return nil
	} else if err != nil {
		return err
	}
	if err := unix.Kill(p.pid, signal); !errors.Is(err, unix.ESRCH) {
		return os.NewSyscallError("kill", err)
	}
	return nil
}

// Wait blocks a thread in the kernel. A canceled context wakes it.
func (p *process) Wait(ctx context.Context) error {
	stop := context.AfterFunc(ctx, p.wake)
	defer stop()
	p.waiting.Add(1)
	defer p.waiting.Done()
	for {
		if p.closed.Load() {
			return os.ErrClosed
		}
		if info, err := kinfoOf(p.pid); errors.Is(err, os.ErrNotExist) || err == nil && (info.birth != p.birth || info.isZombie()) {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		events := make([]unix.Kevent_t, 1)
		n, err := unix.Kevent(p.queue, nil, events, nil)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("kevent", err)
		}
		if n > 0 && events[0].Filter == unix.EVFILT_PROC {
			return nil
		}
	}
}

// wake lets a wait look again.
func (p *process) wake() {
	changes := make([]unix.Kevent_t, 1)
	unix.SetKevent(&changes[0], 0, unix.EVFILT_USER, 0)
	changes[0].Fflags = unix.NOTE_TRIGGER
	_, _ = unix.Kevent(p.queue, changes, nil, nil)
}

func (p *process) Close() error {
	if p.closed.Swap(true) {
		return os.ErrClosed
	}
	p.wake()
	p.waiting.Wait()
	return unix.Close(p.queue)
}
