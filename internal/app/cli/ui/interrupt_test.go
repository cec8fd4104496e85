package ui

import (
	"context"
	"errors"
	"testing"

	"nbs-worker/internal/sim/rig"
)

func TestSignalEndsTheContext(t *testing.T) {
	ctx, stop := (&Factory{}).UntilInterrupted(t.Context())
	defer stop()
	waiting := ctx.Done()
	rig.Terminate(t)
	<-waiting
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Error(ctx.Err())
	}
}

// The signals that a launcher gets are claude's to answer, however many.
func TestSignalsEndNoLauncher(t *testing.T) {
	f := &Factory{}
	f.Launches.Store(true)
	ctx, stop := f.UntilInterrupted(t.Context())
	defer stop()
	waiting := ctx.Done()
	for range 10_000 {
		rig.Terminate(t)
		<-waiting
	}
}

func TestStopEndsTheContext(t *testing.T) {
	ctx, stop := (&Factory{}).UntilInterrupted(t.Context())
	stop()
	<-ctx.Done()
}

// A verb that passes its context on waits with what it was passed to.
func TestSignalEndsWhatIsBelow(t *testing.T) {
	ctx, stop := (&Factory{}).UntilInterrupted(t.Context())
	defer stop()
	below, cancel := context.WithCancel(ctx)
	defer cancel()
	rig.Terminate(t)
	<-below.Done()
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Error(ctx.Err())
	}
}
