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
	rig.Terminate(t)
	<-ctx.Done()
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
	for range 10_000 {
		rig.Terminate(t)
		<-ctx.Done()
	}
}

func TestStopEndsTheContext(t *testing.T) {
	ctx, stop := (&Factory{}).UntilInterrupted(t.Context())
	stop()
	<-ctx.Done()
}
