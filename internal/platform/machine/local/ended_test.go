package local

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/sim/rig"
)

func TestEndingTellsOfTheEnd(t *testing.T) {
	t.Parallel()
	c := startReady(t, "stay")
	ending, err := here.AwaitEnd(c.Process.Pid)
	rig.Must(t, err)
	defer ending.Close()
	told := make(chan error)
	go func() { told <- ending.Wait(t.Context()) }()
	select {
	case err := <-told:
		t.Fatalf("it lives, and Wait returned: %v", err)
	default:
	}
	rig.Must(t, c.Process.Signal(syscall.SIGKILL))
	err = <-told
	rig.Check(t, err == nil, "%v", err)
	err = ending.Wait(t.Context())
	rig.Check(t, err == nil, "a second wait: %v", err) // a zombie now
	by := c.EndedBy()
	rig.Check(t, by == unix.SIGKILL, "ended by %v", by)
	if late, err := here.AwaitEnd(c.Process.Pid); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of a process that is gone: %v, %v", late, err)
	}
}

func TestEndingIsClosedWhileItIsWaitedFor(t *testing.T) {
	t.Parallel()
	ending, err := here.AwaitEnd(startReady(t, "stay").Process.Pid)
	rig.Must(t, err)
	told := make(chan error)
	go func() { told <- ending.Wait(t.Context()) }()
	rig.Must(t, ending.Close())
	err = <-told
	rig.Check(t, err != nil, "it lives, and Wait says that it ended")
}
