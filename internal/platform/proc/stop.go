package proc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
)

// stop ends a process: it sends TERM, waits up to grace, and sends KILL. CONT follows TERM, because a stopped process
// does not act on TERM. nil means that the process was seen to be gone. A Foreign or Unsure process is left alone and
// is an error.
func stop(ctx context.Context, id agent.Identity, grace time.Duration) error {
	h, liveness, err := Open(id)
	switch liveness {
	case Gone:
		return nil
	case Foreign:
		return fmt.Errorf("process %d belongs to another host or pid namespace", id.PID)
	case Unsure:
		return fmt.Errorf("process %d: %w", id.PID, err)
	case Alive:
	}
	defer h.Close()
	if err := errors.Join(h.Signal(unix.SIGTERM), h.Signal(unix.SIGCONT)); err != nil {
		return err
	}
	if within(ctx, grace, h.Wait) == nil {
		return nil
	}
	if err := h.Signal(unix.SIGKILL); err != nil {
		return err
	}
	const reap = 2 * time.Second // KILL cannot be refused, only delayed by the kernel
	if err := within(ctx, reap, h.Wait); err != nil {
		return fmt.Errorf("process %d did not end after KILL: %w", id.PID, err)
	}
	return nil
}

// StopAll ends several processes at the same time, with one grace for all.
func StopAll(ctx context.Context, ids []agent.Identity, grace time.Duration) error {
	failures := make(chan error, len(ids))
	for _, id := range ids {
		go func() { failures <- stop(ctx, id, grace) }()
	}
	var all error
	for range ids {
		all = errors.Join(all, <-failures)
	}
	return all
}

// within waits for at most d, even after the caller was interrupted: it waits for a signalled process, so that the
// report is true.
func within(ctx context.Context, d time.Duration, wait func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d)
	defer cancel()
	return wait(ctx)
}
