package agent

import (
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

// A limit that is used up is so until its window ends; after that nothing is known of the next one.
func TestLimitsEndWithTheirWindows(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC)
	in := func(percent int, d time.Duration) *Limit { return &Limit{UsedPercent: percent, ResetsAt: now.Add(d)} }
	limits := &Limits{FiveHour: in(100, time.Hour), SevenDay: in(100, 3*time.Hour), Spend: in(99, 9*time.Hour)}
	for after, want := range map[time.Duration]time.Duration{0: 3 * time.Hour, 2 * time.Hour: 3 * time.Hour, 3 * time.Hour: 0} {
		until := limits.FullUntil(now.Add(after))
		rig.Check(t, want == 0 && until.IsZero() || until.Equal(now.Add(want)), "after %s it is full until %s", after, until)
	}
	rig.Check(t, limits.Current(now.Add(2*time.Hour)).FiveHour == nil && limits.FiveHour != nil, "%+v", limits)
	rig.Check(t, limits.Current(now.Add(9*time.Hour)) == nil && (*Limits)(nil).FullUntil(now).IsZero(), "%+v", limits)
}
