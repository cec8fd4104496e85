package memory

import (
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/sim/rig"
)

func TestObservationsFitEightyColumns(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	f := &ui.Factory{Streams: ui.Streams{Out: &out, OutTTY: true, Width: 80}}
	long := strings.Repeat("a long title ", 6)
	rig.Must(t, showObservations(f, []memory.Observation{{ID: 1, At: time.Now(), Handle: "alpha", Type: "decision", Title: long}}))
	uitest.MustFit(t, out.String(), "\n    title: a long title")
}
