package lineage

import (
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// A run of a runbook is not the launcher of an agent, although its steps may be separate processes.
func TestWhichCommandLinesLaunch(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"nbs-worker run alpha": true, "nbs-worker --root /srv/gate run alpha": true, "nbs-worker run --root /srv/gate runbook": true,
		"nbs-worker spawn alpha --foreground": true, "nbs-worker spawn alpha --foreground=true": true,
		"nbs-worker runbook run shutdown": false, "nbs-worker runbook --root=/srv/gate run shutdown": false, "nbs-worker schedule run morning": false,
		"nbs-worker list": false, "nbs-worker": false, "": false,
	} {
		rig.Equal(t, launches(strings.Fields(line)), want, "%s", line)
	}
}
