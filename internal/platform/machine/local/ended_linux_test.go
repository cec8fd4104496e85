package local

import (
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/sim/rig"
)

// An end is waited for too where the runtime's poller does not take the descriptor, as at its limit, or one that blocks.
func TestEndIsSeenWithoutThePoller(t *testing.T) {
	t.Parallel()
	c := startReady(t, "stay")
	fd, err := unix.PidfdOpen(c.Process.Pid, 0)
	rig.Must(t, err)
	p := process{os.NewFile(uintptr(fd), "pidfd")}
	defer p.Close()
	told := make(chan error)
	go func() { told <- p.Wait(t.Context()) }()
	rig.Must(t, c.Process.Signal(syscall.SIGKILL))
	err = <-told
	rig.Check(t, err == nil, "%v", err)
}
