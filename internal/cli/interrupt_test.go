package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"testing"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/sim/rig"
)

// What is tidied up after one signal goes on after another, such as a second Ctrl-C.
func TestSecondSignalEndsNothing(t *testing.T) {
	ctx, stop := untilInterrupted(false)
	defer stop()
	for range 10_000 { // long enough for whoever would let go of them after the first
		if err := unix.Kill(os.Getpid(), unix.SIGTERM); err != nil {
			t.Fatal(err)
		}
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
		if err := unix.Kill(os.Getpid(), unix.SIGTERM); err != nil {
			t.Fatal(err)
		}
		return ctx.Err() != nil
	})
}

func TestStopEndsTheContext(t *testing.T) {
	for _, brief := range []bool{false, true} {
		ctx, stop := untilInterrupted(brief)
		stop()
		<-ctx.Done()
	}
}
