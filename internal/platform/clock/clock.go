// Package clock waits for a time, or until something is so.
package clock

import (
	"context"
	"time"

	"nbs-worker/internal/fail"
)

// Sleep waits for a duration. Errors: the context's.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// How often Poll asks: at first, and at last.
const (
	glance     = 15 * time.Millisecond
	longGlance = 150 * time.Millisecond
)

// Poll calls ask every 15 ms, and more rarely as it waits longer, until it returns true or an error, for at most limit.
// An ask may start a program: at a constant rate it would slow down what is waited for. Errors:
// TimedOut; Interrupted; ask's.
func Poll(ctx context.Context, limit time.Duration, ask func() (bool, error)) error {
	late := time.NewTimer(limit)
	defer late.Stop()
	for begun := time.Now(); ; {
		if done, err := ask(); done || err != nil {
			return err
		}
		select {
		case <-time.After(min(max(glance, time.Since(begun)/8), longGlance)):
		case <-late.C:
			if done, err := ask(); done || err != nil {
				return err
			}
			return fail.Errorf(fail.TimedOut, "not within %s", limit)
		case <-ctx.Done():
			return fail.Errorf(fail.Interrupted, "interrupted")
		}
	}
}
