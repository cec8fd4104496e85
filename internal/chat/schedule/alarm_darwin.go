package schedule

import (
	"context"
	"time"
)

// lookEvery is how late the alarm may ring after the clock was set, or the machine was suspended.
const lookEvery = time.Minute

// wallAlarm rings when the wall clock has reached a time. It looks at the clock every minute, because a Go timer measures
// a duration, which is wrong after the clock was set. The alarm ends with the context. For the zero time there is no
// alarm.
func wallAlarm(ctx context.Context, at time.Time) (<-chan struct{}, error) {
	if at.IsZero() {
		return nil, nil
	}
	at = at.Round(0) // without a monotonic reading, only the wall clock counts
	rung := make(chan struct{})
	go func() {
		defer close(rung)
		for ctx.Err() == nil {
			left := at.Sub(time.Now().Round(0))
			if left <= 0 {
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(min(left, lookEvery)):
			}
		}
	}()
	return rung, nil
}
