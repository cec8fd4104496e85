package cli

import (
	"context"
	"os/signal"

	"golang.org/x/sys/unix"
)

// untilInterrupted returns a context that the first SIGINT or SIGTERM ends. The second one ends the program without
// cleanup; the files on disk are consistent at all times. A launcher ignores both signals: claude handles them.
func (f *factory) untilInterrupted(parent context.Context) (ctx context.Context, stop func()) {
	ctx, stop = signal.NotifyContext(parent, unix.SIGINT, unix.SIGTERM)
	context.AfterFunc(ctx, func() {
		if !f.launches.Load() {
			stop()
		}
	})
	return ctx, stop
}
