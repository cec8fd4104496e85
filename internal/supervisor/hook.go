package supervisor

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/observe"
	"nbs-worker/internal/proc"
	"nbs-worker/internal/store"
)

// Hook is a call of one of claude's hooks.
type Hook struct {
	said claude.Hook
}

// ReadHook reads what claude says to a hook.
func ReadHook(in io.Reader) (Hook, error) {
	said, err := claude.ReadHook(in)
	return Hook{said}, err
}

// Report takes down what was said, by a call at the given time.
func (h Hook) Report(ctx context.Context, c Caller, opened *store.Store, at time.Time) error {
	var followErr error
	err := c.report(ctx, opened, at, func(report *agent.Report) {
		h.said.Apply(report, at)
		if id, reason, moves := h.said.MovesTo(report, at); moves { // under the lock: of two moves the later one is the last
			followErr = c.follow(ctx, opened, id, reason, at)
		}
	})
	return errors.Join(err, followErr, keepHooked(ctx, opened, h.said))
}

// follow moves the record to the conversation into which the agent has gone by itself. A
// start that is not verified yet has not gone anywhere: it is in the recorded one, or wrong.
func (c Caller) follow(ctx context.Context, opened *store.Store, id agent.SessionID, reason string, at time.Time) error {
	r, err := opened.Load(c.Handle)
	if err != nil || observe.StartedBy(opened, c.Handle, proc.Program(os.Getpid())) {
		return err
	}
	if !c.started(&r) {
		return agent.ErrSuperseded
	}
	if r.SessionID == id {
		if holder, held := opened.LeaseHolder(id); !held || holder.PID != r.Process.Launcher.PID {
			observe.Wake(&r) // at its move somebody else had it, who may have left since
		}
		return c.nameReason(ctx, opened, &r, reason, at)
	}
	_, err = observe.MoveTo(ctx, opened, &r, id, reason, at)
	return err
}

// nameReason completes a move that somebody saw in the registry before the hook was called,
// which knows more.
func (c Caller) nameReason(ctx context.Context, opened *store.Store, r *agent.Record, reason string, at time.Time) error {
	const justNow = 10 * time.Second
	last := len(r.PreviousSessions) - 1
	if last < 0 || r.PreviousSessions[last].Reason != claude.Moved || reason == claude.Moved || at.Sub(r.PreviousSessions[last].Until) > justNow {
		return nil
	}
	_, err := opened.Update(ctx, c.Handle, func(now *agent.Record) error {
		if !observe.SameStart(now.Process, r.Process) || len(now.PreviousSessions) != last+1 {
			return agent.ErrSuperseded
		}
		now.PreviousSessions[last].Reason = reason
		return nil
	})
	return err
}

// report changes the report of this start, by a call at the given time; that of another is
// begun anew, unless it is of a later start, which began while the call waited for its turn.
func (c Caller) report(ctx context.Context, opened *store.Store, at time.Time, change func(*agent.Report)) error {
	var late error
	err := opened.UpdateReport(ctx, c.Handle, func(report *agent.Report) {
		if report.Invocation != c.Invocation {
			r, err := opened.Load(c.Handle)
			if late = err; err == nil && !c.started(&r) {
				late = agent.ErrSuperseded
			}
			if late != nil {
				return
			}
			*report = agent.Report{Invocation: c.Invocation}
		}
		report.PutBack(time.Now(), at)
		change(report)
	})
	return cmp.Or(late, err)
}
