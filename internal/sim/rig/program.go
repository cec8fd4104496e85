package rig

import (
	"os"
	"syscall"
	"testing"
)

// WriteProgram writes a script that this process may run at once. The lock keeps a program that another test starts
// meanwhile from inheriting the open file, which the kernel would not execute then: text file busy.
func WriteProgram(t testing.TB, path, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	Must(t, os.WriteFile(path, []byte(text), 0o700))
}
