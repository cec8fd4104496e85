package rig

import (
	"testing"
	"time"
)

// WaitFor polls until ok, and fails the test with the newest detail when the time is up.
func WaitFor(t testing.TB, timeout time.Duration, what string, check func() (ok bool, detail string)) {
	t.Helper()
	ok, detail := poll(timeout, check)
	if !ok {
		t.Fatalf("%s: not within %v\n%s", what, timeout, detail)
	}
}

// Eventually polls until the condition holds, and fails the test after ten seconds.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	WaitFor(t, 10*time.Second, what, func() (bool, string) { return holds(), "" })
}

func poll(timeout time.Duration, check func() (bool, string)) (ok bool, detail string) {
	deadline := time.After(timeout)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok, detail = check(); ok {
			return true, detail
		}
		select {
		case <-tick.C:
		case <-deadline:
			return check()
		}
	}
}
