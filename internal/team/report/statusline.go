package report

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/costs"
	"nbs-worker/internal/store/journal"
	"nbs-worker/internal/team/launcher"
)

// StatusLine is a call of claude's status line.
type StatusLine struct {
	line live.StatusLine
}

// ReadStatusLine reads the input that claude gives to its status line. If it cannot be parsed, it is still passed on
// to the user's own status line.
func ReadStatusLine(in io.Reader) (StatusLine, error) {
	line, err := live.ReadStatusLine(in)
	return StatusLine{line}, err
}

// Report records how full the conversation is, the limits of the account, and the agent's pull request and worktree,
// for a call at the given time.
func (l StatusLine) Report(ctx context.Context, c Caller, opened *store.Store, at time.Time) error {
	gauge, limits := l.line.Gauge(at), l.line.Limits(at)
	uncounted := l.count(ctx, c, opened, &gauge)
	unreported := c.report(ctx, opened, at, func(report *agent.Report) {
		last := report.Gauge
		if last != nil && at.Before(last.At) {
			return
		}
		if last != nil && isSameLevel(last, &gauge) {
			gauge.Since = last.Since
		}
		if limits != nil && limits.SameAs(report.Limits) {
			limits.Since = report.Limits.Since
		}
		report.Gauge, report.Limits = &gauge, limits
		report.Pull, report.Worktree = l.line.PullRequest(), l.line.Worktree()
	})
	return errors.Join(uncounted, unreported)
}

// count adds to the agent's ledger what was spent since the last call. If that spends its budget, it journals it.
func (l StatusLine) count(ctx context.Context, c Caller, opened *store.Store, gauge *agent.Gauge) error {
	r, err := opened.Load(c.Handle)
	if err != nil {
		return err
	}
	if _, err := agent.ParseSessionID(string(l.line.SessionID)); err != nil || !c.started(&r) {
		return nil //nolint:nilerr // a total of no conversation counts for none
	}
	spent, ledger, err := opened.Costs().Take(ctx, r.Handle, costs.Reading{SessionID: l.line.SessionID, TotalUSD: gauge.CostUSD, At: gauge.At})
	if err != nil || spent == 0 || r.Budget == "" {
		return err
	}
	now := ledger.Spending(r.Budget, gauge.At)
	before := *now
	if before.USD -= spent; before.Over() || !now.Over() {
		return nil
	}
	return opened.Journal().Append(ctx, journal.EventOf(&r, gauge.At.UTC().Truncate(time.Second), "over-budget", now.String()))
}

// isSameLevel reports whether two gauges show the same level of the context, whatever their costs.
func isSameLevel(a, b *agent.Gauge) bool {
	return a.Tokens == b.Tokens && a.Window == b.Window &&
		(a.UsedPercent == nil) == (b.UsedPercent == nil) && (a.UsedPercent == nil || *a.UsedPercent == *b.UsedPercent)
}

// RunUsers runs the status line that the user has configured, which ours replaces, as claude would. Its configuration
// is found from the record and its claude's environment, not from the call: an agent's shell can make a call too.
func (l StatusLine) RunUsers(ctx context.Context, m *machine.Machine, r *agent.Record, out io.Writer) {
	env := m.EnvironOf(r.Process.Identity)
	config, err := claude.ConfigUsedBy(r.LaunchCwd(), func(name string) string { return agent.Variable(env, name) })
	if env == nil { // its pid is not recorded yet
		config, err = claude.ConfigOf(&r.Spec, os.Environ())
	}
	if err != nil {
		return
	}
	if command := config.UserStatusLine(r.LaunchCwd(), r.ClaudeArgs); command != "" {
		launcher.RunStatusLine(ctx, command, l.line.Text, out)
	}
}
