package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// untilInterrupted returns a context that the first SIGINT or SIGTERM ends. The second one ends
// the program, as it would any other: what is on disk is whole at each moment, and whoever
// insists does not want to wait for what is tidied up. A launcher stays: there both signals are
// claude's to answer.
func (f *factory) untilInterrupted() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals, stopped := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM)
	go func() {
		defer signal.Stop(signals)
		for again := false; ; again = true {
			select {
			case sig := <-signals:
				cancel()
				if again && !f.launches.Load() {
					signal.Reset(sig)
					_ = unix.Kill(os.Getpid(), sig.(syscall.Signal))
				}
			case <-stopped:
				return
			}
		}
	}()
	return ctx, func() { cancel(); close(stopped) }
}
