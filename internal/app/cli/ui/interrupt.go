package ui

import (
	"context"
	"os/signal"

	"golang.org/x/sys/unix"
)

// UntilInterrupted returns a context that the first SIGINT or SIGTERM ends. The second one ends the program without
// cleanup; the files on disk are consistent at all times. A launcher ignores both signals: claude handles them.
func (f *Factory) UntilInterrupted(parent context.Context) (ctx context.Context, stop func()) {
	ctx, stop = signal.NotifyContext(parent, unix.SIGINT, unix.SIGTERM)
	context.AfterFunc(ctx, func() {
		if !f.Launches.Load() {
			stop()
		}
	})
	return ctx, stop
}
