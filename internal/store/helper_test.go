package store

import (
	"os"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

// All tests run under the umask that protects nothing.
func TestMain(m *testing.M) {
	syscall.Umask(0)
	if role := rig.Role(); role != nil {
		playRole(role)
		return
	}
	os.Exit(rig.Tight(m))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func someTime() time.Time { return time.Date(2026, 2, 20, 11, 44, 7, 0, time.UTC) }
