package inspect

import (
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

// Claude prints a time of day in the user's zone; ends are recorded in UTC.
func TestLimitIsLiftedByTheClockOfTheMachine(t *testing.T) { //nolint:paralleltest // the zone is the process's
	zone := time.Local
	t.Cleanup(func() { time.Local = zone })
	time.Local = time.FixedZone("east", 5*60*60)
	refused := time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC)
	var v View
	v.Record.Exits = []agent.Exit{{Code: 1, UptimeS: 1, At: refused, LastScreen: "5-hour limit reached ∙ resets 7pm"}}
	rig.Equal(t, v.LimitedUntil().UTC(), refused.Add(2*time.Hour), "limited until")
	v.Record.Restarts.After = agent.EndQuota // of a launcher that has left, for the policy was taken back
	rig.Equal(t, v.LimitedUntil().UTC(), refused.Add(2*time.Hour), "limited until, without a policy,")
}
