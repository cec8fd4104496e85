package cli

import (
	"context"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// untilInterrupted returns a context that SIGINT and SIGTERM end. They are caught until stop is
// called: what is tidied up after the first must not be ended by the second. To catch signals
// takes a thread, which a brief command does not wait for: it would be a tenth of its time.
func untilInterrupted(brief bool) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals, stopped := make(chan os.Signal, 1), make(chan struct{})
	catch := func() { signal.Notify(signals, unix.SIGINT, unix.SIGTERM) }
	await := func() {
		select {
		case <-signals:
			cancel()
			<-stopped
		case <-stopped:
			cancel()
		}
		signal.Stop(signals)
	}
	if brief {
		go func() { catch(); await() }()
	} else {
		catch()
		go await()
	}
	return ctx, func() { close(stopped) }
}
