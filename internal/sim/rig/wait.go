package rig

import (
	"context"
	"testing"
	"time"
)

// WaitFor polls until ok, and fails the test with the newest detail when its patience is over: a minute of the usual
// machine, see [Scaled].
func WaitFor(t testing.TB, what string, check func() (ok bool, detail string)) {
	t.Helper()
	begun := time.Now()
	ok, detail := poll(patience, check)
	if !ok {
		t.Fatalf("%s: not within %v\n%s", what, time.Since(begun).Round(time.Second), detail)
	}
}

// Eventually polls until the condition holds.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	WaitFor(t, what, func() (bool, string) { return holds(), "" })
}

// Patient returns a context for what is to end by itself. It is done when a test's patience is over.
func Patient(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), Scaled(patience))
	t.Cleanup(cancel)
	return ctx
}

// poll rests between two checks, longer after a check that took long: many tests wait side by side, and checks that
// start programs would take the processor from what they wait for.
const (
	shortRest = 5 * time.Millisecond
	longRest  = time.Second
	restShare = 4 // a rest is that many times as long as the check before it
)

// poll asks until ok, for at most so long on the usual machine. It gives up only after it has measured this one, which
// may have become slower meanwhile, and quick again.
func poll(usual time.Duration, check func() (bool, string)) (ok bool, detail string) {
	begun := time.Now()
	for limit := usual; ; {
		asked := time.Now()
		if ok, detail = check(); ok {
			return true, detail
		}
		if time.Since(begun) >= limit {
			if limit = time.Duration(slownessNow() * float64(usual)); time.Since(begun) >= limit {
				return false, detail
			}
		}
		time.Sleep(min(max(restShare*time.Since(asked), shortRest), longRest))
	}
}
