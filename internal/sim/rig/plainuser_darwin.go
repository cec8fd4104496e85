package rig

import (
	"os"
	"testing"
)

// AsPlainUser does something without root's right to read and write all files. On macOS it needs a user who is not root.
func AsPlainUser(t testing.TB, do func()) {
	t.Helper()
	if os.Geteuid() == 0 {
		lacks(t, "root cannot drop its rights on macOS")
	}
	do()
}
