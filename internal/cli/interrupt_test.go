package cli

import (
	"context"
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"
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

func TestStopEndsTheContext(t *testing.T) {
	for _, brief := range []bool{false, true} {
		ctx, stop := untilInterrupted(brief)
		stop()
		<-ctx.Done()
	}
}
