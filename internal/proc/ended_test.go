package proc

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestEndingTellsOfTheEnd(t *testing.T) {
	t.Parallel()
	c := startReady(t, "stay")
	ending, err := AwaitEnd(c.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer ending.Close()
	told := make(chan error)
	go func() { told <- ending.Wait() }()
	select {
	case err := <-told:
		t.Fatalf("it lives, and Wait returned: %v", err)
	default:
	}
	if err := c.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-told; err != nil {
		t.Error(err)
	}
	if err := ending.Wait(); err != nil { // a zombie now
		t.Errorf("a second wait: %v", err)
	}
	if by := c.EndedBy(); by != unix.SIGKILL {
		t.Errorf("ended by %v", by)
	}
	if late, err := AwaitEnd(c.Process.Pid); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of a process that is gone: %v, %v", late, err)
	}
}

func TestEndingIsClosedWhileItIsWaitedFor(t *testing.T) {
	t.Parallel()
	ending, err := AwaitEnd(startReady(t, "stay").Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan error)
	go func() { told <- ending.Wait() }()
	if err := ending.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-told; err == nil {
		t.Errorf("it lives, and Wait says that it ended")
	}
}
