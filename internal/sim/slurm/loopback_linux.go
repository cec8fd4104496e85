package slurm

import (
	"testing"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/sim/rig"
)

// nameLoopback gives the loopback interface a second address. With 127.0.0.1 alone, the C library takes a machine for one
// without a network and resolves no address, which Slurm's programs need.
func nameLoopback(t testing.TB) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	rig.Must(t, err)
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo:1")
	rig.Must(t, err)
	rig.Must(t, request.SetInet4Addr([]byte{127, 0, 0, 2}))
	rig.Must(t, unix.IoctlIfreq(fd, unix.SIOCSIFADDR, request))
}
