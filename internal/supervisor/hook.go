package supervisor

import (
	"context"
	"errors"
	"io"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/store"
)

// Caller is the agent whose claude calls: what its environment says.
type Caller struct {
	Handle     agent.Handle
	Invocation agent.Invocation
	Root       string // project root at the start
	Dir        string // where the call is made: the project may have been moved
}

// Open finds the project in which the caller's start is recorded. Errors:
// [agent.ErrSuperseded] when there is none: it reports to nobody.
func (c Caller) Open() (*store.Store, agent.Record, error) {
	if _, err := agent.ParseHandle(string(c.Handle)); err != nil || c.Invocation == "" {
		return nil, agent.Record{}, agent.ErrSuperseded
	}
	if opened, r, found := c.recordedIn(c.Root); found {
		return opened, r, nil
	}
	if here, err := store.Find(c.Dir); err == nil && here != c.Root {
		if opened, r, found := c.recordedIn(here); found {
			return opened, r, nil
		}
	}
	return nil, agent.Record{}, agent.ErrSuperseded
}

func (c Caller) recordedIn(root string) (*store.Store, agent.Record, bool) {
	opened, err := store.Open(root)
	if err != nil {
		return nil, agent.Record{}, false
	}
	r, err := opened.Load(c.Handle)
	if err == nil && r.Process != nil && r.Process.Invocation == c.Invocation {
		return opened, r, true
	}
	_ = opened.Close() // it was only read
	return nil, agent.Record{}, false
}

// Hook takes down what claude says through a hook that was called at the given time.
func (c Caller) Hook(ctx context.Context, opened *store.Store, in io.Reader, at time.Time) error {
	hook, err := claude.ReadHook(in)
	if err != nil {
		return err
	}
	return errors.Join(
		c.report(ctx, opened, func(report *agent.Report) { hook.Apply(report, at) }),
		keepHooked(ctx, opened, hook),
	)
}

// StatusLine takes down what claude says to its status line.
func (c Caller) StatusLine(ctx context.Context, opened *store.Store, in io.Reader, at time.Time) error {
	line, err := claude.ReadStatusLine(in)
	if err != nil {
		return err
	}
	gauge := line.Gauge(at)
	return c.report(ctx, opened, func(report *agent.Report) {
		if report.Gauge == nil || !at.Before(report.Gauge.At) {
			report.Gauge = &gauge
		}
	})
}

// report changes the report of this start; that of another is begun anew.
func (c Caller) report(ctx context.Context, opened *store.Store, change func(*agent.Report)) error {
	return opened.UpdateReport(ctx, c.Handle, func(report *agent.Report) {
		if report.Invocation != c.Invocation {
			*report = agent.Report{Invocation: c.Invocation}
		}
		change(report)
	})
}
