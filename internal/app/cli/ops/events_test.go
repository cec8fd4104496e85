package ops

import (
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/journal"
)

func TestEventsFitEightyColumns(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	f := &ui.Factory{Streams: ui.Streams{Out: &out, OutTTY: true, Width: 80}}
	at := time.Now().Add(-3 * time.Minute)
	for _, e := range []journal.Event{
		{At: at, Event: "start", Handle: "alpha", PID: 1234567, SessionID: uitest.SessionID, Detail: strings.Repeat("a detail of what was done ", 6)}, {At: at, Event: "pause"},
	} {
		rig.Must(t, printEvent(f, e))
	}
	uitest.MustFit(t, out.String(), "pid 1234567, session "+string(uitest.SessionID)+"\n", "  start     alpha  a detail")
}
