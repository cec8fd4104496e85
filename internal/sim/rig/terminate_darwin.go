package rig

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Terminate sends SIGTERM to this process.
func Terminate(t testing.TB) {
	t.Helper()
	Must(t, unix.Kill(os.Getpid(), unix.SIGTERM))
}
