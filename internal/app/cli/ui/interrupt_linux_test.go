package ui

import (
	"context"
	"errors"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSignalEndsTheContext(t *testing.T) {
	ctx, stop := (&Factory{}).UntilInterrupted(t.Context())
	defer stop()
	interrupt(t)
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
		interrupt(t)
		<-ctx.Done()
	}
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
	ctx, stop := (&Factory{}).UntilInterrupted(t.Context())
	stop()
	<-ctx.Done()
}
