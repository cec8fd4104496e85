package messages

import (
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/sim/rig"
)

// A message on its way does not have the reason of an earlier try.
func TestOutboxGivesNoOldReason(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	f := &ui.Factory{Streams: ui.Streams{Out: &out, OutTTY: true, Width: 80}}
	at := time.Now().Add(-3 * time.Minute)
	sending := wire.Kept{Handle: "alpha", ID: "3f2a", State: "sending", Allowed: true, Created: &at, Reason: "the agent does not run: crashed", Text: "hi"}
	rig.Must(t, printKept(f, []wire.Kept{sending}))
	rig.Check(t, strings.Contains(out.String(), "3 minutes ago") && !strings.Contains(out.String(), "crashed"), "%s", out.String())
}
