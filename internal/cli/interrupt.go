package cli

import (
	"context"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// untilInterrupted returns a context that SIGINT and SIGTERM end. They are caught until stop is
// called: what is tidied up after the first must not be ended by the second. To catch signals
// takes a thread, which is a tenth of the time of a brief command: such a one catches them
// when it takes longer than it should.
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
		}
		signal.Stop(signals)
	}
	if brief {
		const briefly = 20 * time.Millisecond
		late := time.AfterFunc(briefly, func() { catch(); await() })
		return ctx, func() { late.Stop(); cancel(); close(stopped) }
	}
	catch()
	go await()
	return ctx, func() { cancel(); close(stopped) }
}
