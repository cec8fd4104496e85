package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"nbs-worker/internal/agent"
)

// Open opens the identified process. The handle is nil if the process is not Alive.
func (m *Machine) Open(id agent.Identity) (Process, Liveness, error) {
	if liveness, err := m.Check(id); liveness != Alive {
		return nil, liveness, err
	}
	// The handle is opened before the check that counts, so the check is about the very process that the handle refers
	// to.
	opened, err := m.kernel.Open(id.PID)
	if errors.Is(err, os.ErrNotExist) {
		return nil, Gone, nil
	}
	if err != nil {
		return nil, Unsure, err
	}
	if liveness, err := m.Check(id); liveness != Alive {
		return nil, liveness, errors.Join(err, opened.Close())
	}
	return opened, Alive, nil
}

// AwaitEnd opens the process that has the pid now. A caller that wants a specific process checks its identity after
// the call. Errors: [os.ErrNotExist] when no process has the pid.
func (m *Machine) AwaitEnd(pid int) (Process, error) { return m.kernel.Open(pid) }

// WaitGone waits at most for the patience until a process has ended. The caller checks whether it did.
func (m *Machine) WaitGone(ctx context.Context, id agent.Identity, patience time.Duration) {
	if patience <= 0 {
		return
	}
	opened, liveness, err := m.Open(id)
	if err != nil || liveness != Alive {
		return
	}
	defer opened.Close()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_ = opened.Wait(ctx)
}

// StopAll ends several processes at the same time, with one grace for all.
func (m *Machine) StopAll(ctx context.Context, ids []agent.Identity, grace time.Duration) error {
	failures := make(chan error, len(ids))
	for _, id := range ids {
		go func() { failures <- m.stop(ctx, id, grace) }()
	}
	var all error
	for range ids {
		all = errors.Join(all, <-failures)
	}
	return all
}

// stop ends a process: it sends TERM, waits up to grace, and sends KILL. CONT follows TERM, because a stopped process
// does not act on TERM. nil means that the process was seen to be gone. A Foreign or Unsure process is left alone and
// is an error.
func (m *Machine) stop(ctx context.Context, id agent.Identity, grace time.Duration) error {
	opened, liveness, err := m.Open(id)
	switch liveness {
	case Gone:
		return nil
	case Foreign:
		return fmt.Errorf("process %d belongs to another host or pid namespace", id.PID)
	case Unsure:
		return fmt.Errorf("process %d: %w", id.PID, err)
	case Alive:
	}
	defer opened.Close()
	if err := errors.Join(opened.Signal(syscall.SIGTERM), opened.Signal(syscall.SIGCONT)); err != nil {
		return err
	}
	if within(ctx, grace, opened.Wait) == nil {
		return nil
	}
	if err := opened.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	const reap = 2 * time.Second // KILL cannot be refused, only delayed by the kernel
	if err := within(ctx, reap, opened.Wait); err != nil {
		return fmt.Errorf("process %d did not end after KILL: %w", id.PID, err)
	}
	return nil
}

// within waits for at most d, even after the caller was interrupted: it waits for a signalled process, so that the
// report is true.
func within(ctx context.Context, d time.Duration, wait func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d)
	defer cancel()
	return wait(ctx)
}
