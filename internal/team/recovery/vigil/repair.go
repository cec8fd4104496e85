package vigil

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

// needs reports whether the policy asks for a repair of an agent, whatever was done recently. An agent
// is left alone that works, that was left by a person (it ended with 0), that only a person can help,
// or that its launcher will start again.
func (c *charge) needs(p *Policy) bool {
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

// repairOne repairs the agent that is next, if any, and reports whether it did.
func (v *Vigil) repairOne(ctx context.Context) bool {
	now := time.Now()
	v.memory.forget(now)
	c := v.patient(now)
	if c == nil {
		v.limited = false
		return false
	}
	if len(v.memory.charged()) >= v.PerHour && !v.isFree(c) {
		v.sayLimit(c)
		return false
	}
	v.limited = false
	v.repair(ctx, c)
	return true
}

// patient returns the agent to repair next, nil for none: agents whose repair is not charged come first,
// then those with the least to be done; among equals the first by name.
func (v *Vigil) patient(now time.Time) *charge {
	var due []*charge
	for _, c := range v.charges {
		if !c.stale && c.needs(&v.Policy) && !c.rest.After(now) && !v.isQuarantined(c) && !v.isHeldBack(c) {
			due = append(due, c)
		}
	}
	if len(due) == 0 {
		return nil
	}
	return slices.MinFunc(due, func(a, b *charge) int {
		return cmp.Or(cmp.Compare(v.rank(a), v.rank(b)), strings.Compare(a.handle.Key(), b.handle.Key()))
	})
}

func (v *Vigil) rank(c *charge) triage.Level {
	if v.isFree(c) {
		return triage.LevelAssess
	}
	return c.Level
}

// isQuarantined tells whether an agent was repaired as often as it may be.
func (v *Vigil) isQuarantined(c *charge) bool {
	return !v.isFree(c) && len(v.memory.of(c.handle)) >= v.PerAgent
}

func (v *Vigil) sayLimit(c *charge) {
	if !v.limited {
		v.say(DidReachLimit, c.handle, fmt.Sprintf("%s; %s in an hour are the most", c.words(), human.Count(v.PerHour, "repair")))
	}
	v.limited = true
}

// repair writes down what it is about to do, does it, and says what came of it. A repair that is
// begun goes on to its end.
func (v *Vigil) repair(ctx context.Context, c *charge) {
	attempt := Attempt{At: time.Now(), Handle: c.handle}
	if v.isFree(c) {
		attempt.Lost = c.invocation
	}
	v.memory.Repairs = append(v.memory.Repairs, attempt)
	why := c.words()
	if err := v.write(ctx, c, fmt.Sprintf("%s: repairs it, level %d", why, c.Level)); err != nil {
		v.uncount(attempt)
		v.failed(c, why, err)
		return
	}
	done, err := v.Team.Repair(ctx, c.handle)
	c.stale = true
	if fail.KindOf(err) == fail.Conflict { // another command is at work on it: nothing was repaired
		v.uncount(attempt)
	}
	switch {
	case ctx.Err() != nil: // the next watch sees what came of it
		return
	case err != nil:
		v.failed(c, why, err)
		return
	}
	v.say(DidRepair, c.handle, why+"; "+done)
	v.pend(c, Repaired, why+"; "+done)
}

// uncount forgets a repair of which nothing was done.
func (v *Vigil) uncount(attempt Attempt) {
	v.memory.Repairs = slices.DeleteFunc(v.memory.Repairs, func(a Attempt) bool { return a == attempt })
}

// write makes durable what is about to be done: a repair that cannot be written down is not begun.
func (v *Vigil) write(ctx context.Context, c *charge, detail string) error {
	if err := v.Desk.Remember(v.memory); err != nil {
		return err
	}
	return v.Desk.Note(ctx, c.handle, detail)
}

// failed reports a repair that came to nothing, and delays the next one of the agent.
func (v *Vigil) failed(c *charge, why string, err error) {
	c.rest = time.Now().Add(v.Every)
	c.look, c.stale = c.rest, false
	v.say(DidNotRepair, c.handle, fmt.Sprintf("%s; %v", why, err))
	if fail.KindOf(err) == fail.Held {
		v.pend(c, Holds, err.Error())
	}
}
