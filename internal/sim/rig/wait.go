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

// poll rests between two checks, longer after a check that took long: many tests wait side by side, and checks that
// start programs would take the processor from what they wait for.
const (
	shortRest = 5 * time.Millisecond
	longRest  = 200 * time.Millisecond
	restShare = 4 // a rest is that many times as long as the check before it
)

func poll(timeout time.Duration, check func() (bool, string)) (ok bool, detail string) {
	deadline := time.After(timeout)
	for {
		begun := time.Now()
		if ok, detail = check(); ok {
			return true, detail
		}
		rest := min(max(restShare*time.Since(begun), shortRest), longRest)
		select {
		case <-time.After(rest):
		case <-deadline:
			return check()
		}
	}
}
