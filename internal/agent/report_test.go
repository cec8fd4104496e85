package agent

import (
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

// Each time by which a report tells older from newer is put back with the clock; what has not happened stays so.
func TestReportIsPutBackWithTheClock(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC)
	later, earlier := now.Add(time.Hour), now.Add(-time.Hour)
	r := Report{Activity: &Activity{At: later}, Failure: &Failure{At: later}, Done: later, Gauge: &Gauge{At: later}, Limits: &Limits{Since: later}}
	r.PutBack(now, earlier)
	for what, at := range map[string]time.Time{"activity": r.Activity.At, "failure": r.Failure.At, "done": r.Done, "gauge": r.Gauge.At, "limits": r.Limits.Since} {
		rig.Equal(t, at, earlier, "%s", what)
	}
	r = Report{}
	r.PutBack(now, earlier)
	rig.Check(t, r.Done.IsZero(), "done at %s", r.Done)
}
