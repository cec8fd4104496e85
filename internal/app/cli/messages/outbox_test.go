package messages

import (
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/sim/rig"
)

func TestOutboxFitsEightyColumns(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	f := &ui.Factory{Streams: ui.Streams{Out: &out, OutTTY: true, Width: 80}}
	at := time.Now().Add(-3 * time.Minute)
	rig.Must(t, printKept(f, []wire.Kept{{Handle: "alpha", ID: "3f2a", State: "waiting", Allowed: true, Created: &at, Reason: strings.Repeat("it is busy ", 20), Text: "read chapter two again"}}))
	uitest.MustFit(t, out.String(), "3 minutes ago", "\n    reason: it is busy", "\n    text: read chapter two again\n")

	out.Reset()
	sending := wire.Kept{Handle: "alpha", ID: "3f2a", State: "sending", Allowed: true, Created: &at, Reason: "the agent does not run: crashed", Text: "hi"}
	rig.Must(t, printKept(f, []wire.Kept{sending}))
	rig.Check(t, !strings.Contains(out.String(), "crashed"), "what is on its way has the reason of an earlier try:\n%s", out.String())
}
