package standin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// ending is why the program ends, and with which code. It is the cause of the cancelled context.
type ending struct {
	code    int
	crashed bool // nothing is cleaned up
	reason  string
}

func (e ending) Error() string { return fmt.Sprintf("%s (exit code %d)", e.reason, e.code) }

// endings are the real program's, by signal. SIGINT gives 0, because it counts as the user's wish.
var endings = map[os.Signal]ending{
	syscall.SIGTERM: {code: 143, reason: "other"},
	syscall.SIGHUP:  {code: 129, reason: "other"},
	syscall.SIGINT:  {code: 0, reason: "other"},
}

// lifetime is cancelled by a signal, and by die-after. Its cause is an ending.
func lifetime(w whims) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	go func() {
		for s := range signals {
			if !w.refuseTerm {
				cancel(endings[s])
			}
		}
	}()
	if w.dieAfter > 0 {
		time.AfterFunc(w.dieAfter, func() { cancel(ending{code: w.dieCode, crashed: true, reason: "die-after"}) })
	}
	return ctx, func() { cancel(ending{reason: "done"}) }
}

// endOf returns why a context was cancelled.
func endOf(ctx context.Context) ending {
	var e ending
	if !errors.As(context.Cause(ctx), &e) {
		e = ending{code: 1, reason: "other"}
	}
	return e
}

// pause waits without polling; false when the context ended first.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// linger waits for as long as the process takes to shut down, whatever ends it.
func (w *whims) linger(ctx context.Context) {
	if w.stopGate != "" {
		_, _ = os.ReadFile(w.stopGate) // the first writer that comes and goes ends it
	}
	pause(context.WithoutCancel(ctx), w.stopDelay)
}
