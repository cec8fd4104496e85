package rig

import (
	"os"
	"os/exec"
	"testing"
)

// noSkip is the variable that is 1 where no test may be skipped: what is missing then fails the test.
const noSkip = "NBS_TEST_NO_SKIP"

// NeedsRoot skips a test that mounts, makes namespaces or plays another user, when a developer runs it as an ordinary
// user.
func NeedsRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		lacks(t, "this test needs root")
	}
}

// Needs skips a test when a program is missing.
func Needs(t testing.TB, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		lacks(t, program+" is missing; run: make bootstrap")
	}
}

func lacks(t testing.TB, what string) {
	t.Helper()
	if os.Getenv(noSkip) == "1" {
		t.Fatalf("%s (%s=1: nothing is skipped)", what, noSkip)
	}
	t.Skip(what)
}
