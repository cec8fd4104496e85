package agents

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/inspect"
)

// What Claude hands over is in the wide list: columns where an agent has it, and one line for the limits of the account.
func TestWideListShowsWhatClaudeHandsOver(t *testing.T) {
	t.Parallel()
	wide := func(rows ...inspect.Row) string {
		var out bytes.Buffer
		f := &ui.Factory{Streams: ui.Streams{Out: &out, OutTTY: true}}
		rig.Must(t, printList(f, rows, &listOptions{wide: true}, &attention.Judge{Bands: agent.DefaultBands, Now: time.Now()}))
		return out.String()
	}
	alpha, beta := ranAs("alpha", "opus", ""), ranAs("beta", "opus", "")
	out := wide(alpha, beta)
	rig.Check(t, !strings.Contains(out, "PULL REQUEST") && !strings.Contains(out, "BRANCH") && !strings.Contains(out, "limits:"), "nothing is handed over:\n%s", out)
	alpha.Report.Pull, beta.Report.Worktree = &agent.PullRequest{Number: 12, ReviewState: "approved"}, &agent.Worktree{Name: "fix", Path: "/fix", Branch: "worktree-fix"}
	for i, row := range []*inspect.Row{&alpha, &beta} {
		row.Report.Limits = &agent.Limits{FiveHour: &agent.Limit{UsedPercent: 40 + i, ResetsAt: time.Now().Add(2*time.Hour + time.Minute)}, Since: time.Now().Add(time.Duration(i) * time.Minute)}
	}
	out = wide(alpha, beta)
	rig.Check(t, strings.Contains(out, "PULL REQUEST") && strings.Contains(out, "#12 approved") && strings.Contains(out, "worktree-fix"), "both have something:\n%s", out)
	rig.Check(t, strings.HasSuffix(out, "\nlimits: 5 hours: 41% used, resets in 2h\n"), "the newest numbers count:\n%s", out)
}
