package cli

import (
	"context"
	"os/signal"

	"golang.org/x/sys/unix"
)

// untilInterrupted returns a context that the first SIGINT or SIGTERM ends. The second one ends
// the program, as it would any other: what is on disk is whole at each moment, and whoever
// insists does not want to wait for what is tidied up. A launcher stays: there both signals are
// claude's to answer.
func (f *factory) untilInterrupted(parent context.Context) (ctx context.Context, stop func()) {
	ctx, stop = signal.NotifyContext(parent, unix.SIGINT, unix.SIGTERM)
	context.AfterFunc(ctx, func() {
		if !f.launches.Load() {
			stop()
		}
	})
	return ctx, stop
}
