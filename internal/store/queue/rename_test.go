package queue

import (
	"testing"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest/nbs"
)

// What was sent to the new handle before the entries came stays, and what comes keeps its order.
func TestMoveToAnOutboxWithEntries(t *testing.T) {
	t.Parallel()
	in := nbs.New(t, Folder)
	alpha, beta := of(t, in, "alpha"), of(t, in, "beta")
	add(t, beta, "new", Waiting)
	add(t, alpha, "one", Waiting)
	add(t, alpha, "two", Waiting)
	moved, unsealed, err := alpha.MoveTo(t.Context(), beta)
	rig.Check(t, moved == 2 && len(unsealed) == 0 && err == nil, "%d moved, %v, %v", moved, unsealed, err)
	got := texts(t, beta)
	rig.Check(t, got == "new waiting, one waiting, two waiting", "%s", got)
	add(t, alpha, "late", Waiting) // after a kill, before the same call again
	_, _, err = alpha.MoveTo(t.Context(), beta)
	rig.Must(t, err)
	got = texts(t, beta)
	rig.Check(t, got == "new waiting, one waiting, two waiting, late waiting" && alpha.Newest() == "", "%s", got)
}
