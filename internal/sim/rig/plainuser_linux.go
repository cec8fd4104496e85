package rig

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// AsPlainUser does something as root without root's right to read and write all files. Other threads and programs that
// it starts have that right.
func AsPlainUser(t testing.TB, do func()) {
	t.Helper()
	NeedsRoot(t)
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		self := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var rights [2]unix.CapUserData
		err = unix.Capget(&self, &rights[0])
		if err == nil {
			rights[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
			err = unix.Capset(&self, &rights[0])
		}
		if err == nil {
			do()
		}
	}()
	<-done
	Must(t, err)
}
