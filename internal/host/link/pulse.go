package link

import (
	"context"
	"io"
	"sync/atomic"
	"time"
)

// Both sides send a beat from time to time. A side that hears nothing for [silence] ends the connection: the other one
// has gone, or is stuck, also if ssh still reaches its machine. An older program sends no beats, and is not watched.
const (
	silence = time.Minute
	beats   = 4 // in a silence
)

// sendBeats sends beats until the context ends, or a write fails.
func (w *writer) sendBeats(ctx context.Context, silence time.Duration) {
	tick := time.NewTicker(silence / beats)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if w.send(frame{kind: beat}) != nil {
				return
			}
		}
	}
}

// awaitSilence returns how long one of the stopwatches has run when that is longer than the silence, and 0 when the context
// ends. The time in which this process was suspended does not count.
func awaitSilence(ctx context.Context, silence time.Duration, watches ...*stopwatch) time.Duration {
	every := silence / beats
	tick := time.NewTicker(every)
	defer tick.Stop()
	for last := time.Now(); ; {
		select {
		case <-ctx.Done():
			return 0
		case <-tick.C:
		}
		now := time.Now()
		late := now.Sub(last) > 2*every
		last = now
		for _, w := range watches {
			if late {
				w.restart()
			} else if quiet := w.elapsed(); quiet > silence {
				return quiet
			}
		}
	}
}

// stopwatch measures how long something takes.
type stopwatch struct{ since atomic.Pointer[time.Time] } // nil: it does not run

func (w *stopwatch) start() { w.since.Store(new(time.Now())) }
func (w *stopwatch) stop()  { w.since.Store(nil) }

// restart begins at zero again if the stopwatch runs.
func (w *stopwatch) restart() {
	if since := w.since.Load(); since != nil {
		w.since.CompareAndSwap(since, new(time.Now()))
	}
}

func (w *stopwatch) elapsed() time.Duration {
	since := w.since.Load()
	if since == nil {
		return 0
	}
	return time.Since(*since)
}

// hearing is a reader that measures how long nothing comes. The time between two reads does not count.
type hearing struct {
	io.Reader

	quiet stopwatch
}

func (h *hearing) Read(text []byte) (int, error) {
	h.quiet.start()
	defer h.quiet.stop()
	return h.Reader.Read(text)
}
