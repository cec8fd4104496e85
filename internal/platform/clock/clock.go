// Package clock waits for a time.
package clock

import (
	"context"
	"time"
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
