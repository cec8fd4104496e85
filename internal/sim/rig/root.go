package rig

import (
	"os"
	"testing"
)

// NeedsRoot skips a test that only root can run, and fails it where no test may be skipped: with NBS_TEST_NO_SKIP=1, as
// in CI, which runs as root.
func NeedsRoot(t testing.TB) {
	t.Helper()
	switch {
	case os.Geteuid() == 0:
	case os.Getenv("NBS_TEST_NO_SKIP") == "1":
		t.Fatal("this test needs root, and none may be skipped (NBS_TEST_NO_SKIP=1)")
	default:
		t.Skip("this test needs root")
	}
}
