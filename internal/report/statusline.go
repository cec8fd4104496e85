package report

import (
	"context"
	"io"
	"os"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/launcher"
	"nbs-worker/internal/proc"
	"nbs-worker/internal/store"
)

// StatusLine is a call of claude's status line.
type StatusLine struct {
	line live.StatusLine
}

// ReadStatusLine reads what claude says to its status line. What could not be understood is
// shown to the user's own all the same.
func ReadStatusLine(in io.Reader) (StatusLine, error) {
	line, err := live.ReadStatusLine(in)
	return StatusLine{line}, err
}

// Report takes down how full the conversation is, by a call at the given time.
func (l StatusLine) Report(ctx context.Context, c Caller, opened *store.Store, at time.Time) error {
	gauge := l.line.Gauge(at)
	return c.report(ctx, opened, at, func(report *agent.Report) {
		if report.Gauge == nil || !at.Before(report.Gauge.At) {
			report.Gauge = &gauge
		}
	})
}

// RunUsers runs the status line that the user has configured, in whose place ours stands,
// as claude would. Where that is configured is known from the record and its claude: what the
// call says of it, an agent's shell may say too.
func (l StatusLine) RunUsers(ctx context.Context, r *agent.Record, out io.Writer) {
	env := proc.EnvironOf(r.Process.Identity)
	config, err := claude.ConfigUsedBy(func(name string) string { return agent.Variable(env, name) })
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
