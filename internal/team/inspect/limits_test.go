package inspect

import (
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

// Of each account the newest numbers count, and only as long as their window lasts.
func TestLimitsOfTheAccounts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC)
	row := func(handle agent.Handle, config string, used, sinceMin, resetsInMin int) Row {
		r := Row{Handle: handle}
		r.Record.ConfigDir = config
		r.Report.Limits = &agent.Limits{
			FiveHour: &agent.Limit{UsedPercent: used, ResetsAt: now.Add(time.Duration(resetsInMin) * time.Minute)},
			Since:    now.Add(-time.Duration(sinceMin) * time.Minute),
		}
		return r
	}
	silent := Row{Handle: "silent"}
	other := row("gamma", "", 70, 1, 10)
	other.Record.Env = map[string]string{"CLAUDE_CODE_OAUTH_TOKEN": "another"}
	got := Limits([]Row{silent, row("alpha", "", 40, 30, 60), row("beta", "", 45, 5, 60), row("late", "/c", 99, 1, -1), row("delta", "/d", 12, 9, 5), other}, now)
	rig.Check(t, len(got) == 3, "%+v", got)
	for i, want := range []struct {
		by   agent.Handle
		used int
	}{{"beta", 45}, {"gamma", 70}, {"delta", 12}} {
		rig.Check(t, got[i].By == want.by && got[i].FiveHour.UsedPercent == want.used, "%d: %+v; want %+v", i, got[i], want)
	}
	rig.Check(t, len(Limits([]Row{row("late", "", 99, 1, 0)}, now)) == 0, "a window that has ended counts")
}
