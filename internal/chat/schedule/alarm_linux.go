package schedule

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// wallAlarm rings when the wall clock reaches a time, and when that clock is set. A Go timer measures a duration, which
// is wrong after the clock was set, and it stops while the machine is suspended. The alarm ends with the context. For
// the zero time there is no alarm.
func wallAlarm(ctx context.Context, at time.Time) (<-chan struct{}, error) {
	if at.IsZero() {
		return nil, nil
	}
	fd, err := unix.TimerfdCreate(unix.CLOCK_REALTIME, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a timer: %w", err)
	}
	timer := os.NewFile(uintptr(fd), "timer")
	when := unix.ItimerSpec{Value: unix.NsecToTimespec(max(1, at.UnixNano()))}
	if err := unix.TimerfdSettime(fd, unix.TFD_TIMER_ABSTIME|unix.TFD_TIMER_CANCEL_ON_SET, &when, nil); err != nil {
		_ = timer.Close()
		return nil, fmt.Errorf("set a timer: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = timer.Close() })
	rung := make(chan struct{})
	go func() {
		defer close(rung)
		var count [8]byte
		_, _ = timer.Read(count[:]) // an error means: the clock was set, or the timer was closed
		if stop() {
			_ = timer.Close()
		}
	}()
	return rung, nil
}
