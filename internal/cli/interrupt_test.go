package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/sim/rig"
)

// What is tidied up after one signal goes on after another, such as a second Ctrl-C.
func TestSecondSignalEndsNothing(t *testing.T) {
	ctx, stop := untilInterrupted(false)
	defer stop()
	for range 10_000 { // long enough for whoever would let go of them after the first
		interrupt(t)
		<-ctx.Done()
	}
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Error(ctx.Err())
	}
}

// A brief command that takes longer than it should obeys a signal as the others do.
func TestBriefCommandThatIsNot(t *testing.T) {
	spared := make(chan os.Signal, 1) // a signal that comes before it is caught would end the test
	signal.Notify(spared, unix.SIGTERM)
	defer signal.Stop(spared)
	ctx, stop := untilInterrupted(true)
	defer stop()
	rig.Eventually(t, "it is interrupted", func() bool {
		interrupt(t)
		return ctx.Err() != nil
	})
}

// interrupt sends SIGTERM to the thread that it runs on, which has got it when this returns. One
// sent to the process is got by any thread, maybe after the test, when it would end them all.
func interrupt(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

func TestStopEndsTheContext(t *testing.T) {
	for _, brief := range []bool{false, true} {
		ctx, stop := untilInterrupted(brief)
		stop()
		<-ctx.Done()
	}
}
