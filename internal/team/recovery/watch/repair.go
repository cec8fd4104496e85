package watch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/triage"
)

// needs reports whether the policy requires a repair of an agent, regardless of recent repairs. Some agents are left
// alone: one that works, one that a person has left (it ended with 0), one that only a person can help, and one that
// its launcher will start again.
func (c *watchedAgent) needs(p *Policy) bool {
	switch {
	case c.Level == triage.LevelAssess, c.Level > p.MaxLevel, c.Working, c.Verdict == triage.Held:
		return false
	case c.status.State == agent.Backoff, c.holds, c.status.Cause == agent.Exited:
		return false
	case c.Verdict == triage.Stressed && c.Level == triage.LevelCompact:
		return c.left != nil && p.compacts(*c.left)
	}
	return true
}

// repairOne repairs the next agent, if any, and reports whether it did.
func (w *Watch) repairOne(ctx context.Context) bool {
	now := time.Now()
	w.state.forget(now)
	c := w.next(now)
	if c == nil {
		w.limited = false
		return false
	}
	if len(w.state.counted()) >= w.PerHour && !w.isFree(c) {
		w.sayLimit(c)
		return false
	}
	w.limited = false
	w.repair(ctx, c)
	return true
}

// next returns the agent to repair next; nil if no agent needs a repair. Agents whose repair is free come first, then
// those with the mildest repair. Equal ones are sorted by name.
func (w *Watch) next(now time.Time) *watchedAgent {
	var due []*watchedAgent
	for _, c := range w.agents {
		if !c.stale && c.needs(&w.Policy) && !c.rest.After(now) && !w.isQuarantined(c) {
			due = append(due, c)
		}
	}
	if len(due) == 0 {
		return nil
	}
	return slices.MinFunc(due, func(a, b *watchedAgent) int {
		return cmp.Or(cmp.Compare(w.rank(a), w.rank(b)), strings.Compare(a.handle.Key(), b.handle.Key()))
	})
}

func (w *Watch) rank(c *watchedAgent) triage.Level {
	if w.isFree(c) {
		return triage.LevelAssess
	}
	return c.Level
}

// isFree reports whether the next repair of an agent does not count toward the limit of all agents: it ended with its
// tmux server, as all agents there did, and no repair of that start was tried yet.
func (w *Watch) isFree(c *watchedAgent) bool {
	return c.status.Cause == agent.LostTmux && c.invocation != "" &&
		!slices.ContainsFunc(w.state.Repairs, func(a Attempt) bool { return a.Lost == c.invocation })
}

// isQuarantined reports whether an agent has reached its limit of repairs.
func (w *Watch) isQuarantined(c *watchedAgent) bool { return len(w.state.of(c.handle)) >= w.PerAgent }

func (w *Watch) sayLimit(c *watchedAgent) {
	if !w.limited {
		w.say(DidReachLimit, c.handle, fmt.Sprintf("%s; %s in an hour are the most", c.words(), human.Count(w.PerHour, "repair")))
	}
	w.limited = true
}

// repair records what it is about to do, does it, and reports the result. A begun repair is never interrupted.
func (w *Watch) repair(ctx context.Context, c *watchedAgent) {
	attempt := Attempt{At: time.Now(), Handle: c.handle}
	if w.isFree(c) {
		attempt.Lost = c.invocation
	}
	w.state.Repairs = append(w.state.Repairs, attempt)
	why := c.words()
	if err := w.write(ctx, c, fmt.Sprintf("%s: repairs it, level %d", why, c.Level)); err != nil {
		w.uncount(attempt)
		w.failed(c, why, err)
		return
	}
	done, err := w.Team.Repair(ctx, c.handle)
	c.stale = true
	if fail.KindOf(err) == fail.Conflict { // another command holds it: nothing was repaired
		w.uncount(attempt)
	}
	switch {
	case ctx.Err() != nil: // the next watch sees the result
		return
	case err != nil:
		w.failed(c, why, err)
		return
	}
	w.say(DidRepair, c.handle, why+"; "+done)
	w.pend(c, Repaired, why+"; "+done)
}

// uncount removes an attempt in which nothing was done.
func (w *Watch) uncount(attempt Attempt) {
	w.state.Repairs = slices.DeleteFunc(w.state.Repairs, func(a Attempt) bool { return a == attempt })
}

// write records what is about to be done. A repair that cannot be recorded is not begun.
func (w *Watch) write(ctx context.Context, c *watchedAgent, detail string) error {
	if err := w.Keeper.SaveState(w.state); err != nil {
		return err
	}
	return w.Keeper.Note(ctx, c.handle, detail)
}

// failed reports a failed repair, and delays the next one of the agent.
func (w *Watch) failed(c *watchedAgent, why string, err error) {
	c.rest = time.Now().Add(w.Every)
	c.look, c.stale = c.rest, false
	w.say(DidNotRepair, c.handle, fmt.Sprintf("%s; %v", why, err))
	if fail.KindOf(err) == fail.Held {
		w.pend(c, Holds, err.Error())
	}
}
