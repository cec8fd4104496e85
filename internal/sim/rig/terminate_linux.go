package rig

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Terminate sends SIGTERM to the thread that it runs on. The signal has arrived when this returns. A signal to the
// process may reach any of its threads later, also after the test, when it would end all tests.
func Terminate(t testing.TB) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	Must(t, unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGTERM))
}
