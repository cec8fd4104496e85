package rig

import (
	"strconv"
	"testing"

	"nbs-worker/internal/sim/private"
)

// endLeftovers kills what a test left running, so that nothing writes into its folders any more.
func endLeftovers(t testing.TB, world private.World) {
	t.Helper()
	ok, detail := poll(patience, func() (bool, string) {
		left := world.Kill()
		return left == 0, strconv.Itoa(left)
	})
	if !ok {
		t.Errorf("processes of this test cannot be ended: %s", detail)
	}
}
