package ui

import (
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// Of an entry of several lines the indent of its lines does not get among its words.
func TestEntryIsRefilled(t *testing.T) {
	t.Parallel()
	got := filled("  stuck   it is busy for\n          longer than that, no hook\n          reports\n  dead    gone", 30)
	rig.Equal(t, got, "  stuck   it is busy for\n          longer than that, no\n          hook reports\n  dead    gone", "filled")
}

func TestWithCodesNamesEachOnceInOrder(t *testing.T) {
	t.Parallel()
	got := WithCodes("Text.", fail.Held, fail.BadInput, fail.BadInput)
	want := "Text.\n\nExit codes:\n    0  done, and observed\n    4  bad arguments or bad input\n    8  held: a person is needed: login, first-run dialog, a record to allow"
	rig.Equal(t, got, want, "withCodes")
}
