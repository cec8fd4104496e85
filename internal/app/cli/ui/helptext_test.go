package ui

import (
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func TestWithCodesNamesEachOnceInOrder(t *testing.T) {
	t.Parallel()
	got := WithCodes("Text.", fail.Held, fail.BadInput, fail.BadInput)
	want := "Text.\n\nExit codes:\n    0  done, and observed\n    4  bad arguments or bad input\n    8  held: a person is needed: login, first-run dialog, a record to allow"
	rig.Equal(t, got, want, "withCodes")
}
