package ui

import (
	"context"
	"errors"
	"io"
	"testing"

	"nbs-worker/internal/fail"
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

// Who interrupts a verb that waits for its input does not wait for the end of the input.
func TestSignalEndsTheReadingOfAText(t *testing.T) {
	in, typing := io.Pipe()
	defer typing.Close()
	begun := begin{in, make(chan struct{})}
	f := &Factory{Streams: Streams{In: begun}}
	ctx, stop := f.UntilInterrupted(t.Context())
	defer stop()
	f.CatchSignals(ctx)
	go func() {
		<-begun.read
		rig.Terminate(t)
	}()
	_, err := ReadText("the text from", "-", f.Input())
	rig.Equal(t, fail.KindOf(err), fail.Interrupted, "the kind of %v", err)
}

// begin is an input that tells when it is first read.
type begin struct {
	io.Reader

	read chan struct{}
}

func (b begin) Read(into []byte) (int, error) {
	close(b.read)
	return b.Reader.Read(into)
}
