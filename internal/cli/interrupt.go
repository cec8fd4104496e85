package cli

import (
	"context"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// untilInterrupted returns a context that SIGINT and SIGTERM end. To catch signals takes a
// thread, which a brief command does not wait for: it would be a tenth of its time.
func untilInterrupted(brief bool) (ctx context.Context, stop context.CancelFunc) {
	ctx, stop = context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	catch := func() { signal.Notify(signals, unix.SIGINT, unix.SIGTERM) }
	await := func() {
		select {
		case <-signals:
			stop()
		case <-ctx.Done():
		}
		signal.Stop(signals)
	}
	if brief {
		go func() { catch(); await() }()
	} else {
		catch()
		go await()
	}
	return ctx, stop
}
