package vigil

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/triage"
)

// learn queues notices of what is new about an agent.
func (v *Vigil) learn(c *charge, now time.Time) {
	quarantined := c.needs(&v.Policy) && v.isQuarantined(c)
	words := c.words()
	if quarantined {
		words = fmt.Sprintf("quarantined after %s in an hour: %s", human.Count(v.PerAgent, "repair"), words)
	}
	band := agent.Healthy
	if c.left != nil {
		band = v.Bands.Of(*c.left)
	}
	start := string(c.invocation)
	for _, is := range []struct {
		kind  Kind
		so    bool
		mark  string // an event with the same mark is told once
		words string
	}{
		{Waits, c.Verdict == triage.Waiting, start + " " + c.status.Detail, words},
		{Crashed, c.status.Down() && c.status.Cause != agent.Exited && !c.Verdict.IsWell() && c.Until.IsZero(), start, words},
		{Holds, quarantined || c.holds || c.Verdict == triage.Held, fmt.Sprint(quarantined, " ", start, " ", c.Steps), words},
		{Fills, band != agent.Healthy, string(c.session) + " " + string(band), fmt.Sprintf("%s: %s", band, words)},
	} {
		switch {
		case !is.so:
			v.memory.over(c.handle, is.kind)
		case v.memory.news(c.handle, is.kind, is.mark):
			v.pendAt(c, is.kind, is.words, now)
			if is.kind == Holds {
				v.say(SawHeld, c.handle, words)
			}
		}
	}
}

// words are how the agent is, and on what evidence.
func (c *charge) words() string {
	return fmt.Sprintf("%s: %s", c.Verdict, strings.Join(c.Evidence, "; "))
}

func (v *Vigil) pend(c *charge, kind Kind, detail string) {
	v.pendAt(c, kind, detail, time.Now())
	_ = v.Desk.Remember(v.memory) // it is told all the same, unless this watch is killed before
}

// pendAt keeps a notice until it is told; of too many, the latest are kept.
func (v *Vigil) pendAt(c *charge, kind Kind, detail string, now time.Time) {
	if v.Notify == nil || !slices.Contains(v.Notify.Of, kind) {
		return
	}
	notice := Notice{Kind: kind, At: now.UTC().Truncate(time.Second), Handle: c.handle, SessionID: c.session, Detail: detail}
	if kind == Fills {
		notice.ContextLeft = c.left
	}
	const most = 100
	v.memory.Pending = append(v.memory.Pending, notice)
	v.memory.Pending = v.memory.Pending[max(0, len(v.memory.Pending)-most):]
}

// tell tells what is pending before a repair, which may take minutes, and reports whether it tried. It goes on
// for a short time only: repairs do not wait until a slow program has told all.
func (v *Vigil) tell(ctx context.Context) (tried bool) {
	const most = 10 * time.Second
	for begun := time.Now(); time.Since(begun) < most && v.tellOne(ctx); {
		tried = true
	}
	return tried
}

// tellOne tells the oldest notice, and reports whether it tried. A notice that could not be told is
// tried again after a pause, some times.
func (v *Vigil) tellOne(ctx context.Context) bool {
	const tries, pause = 3, time.Minute
	now := time.Now()
	if v.Teller == nil || len(v.memory.Pending) == 0 || v.tellNext.After(now) {
		return false
	}
	if len(v.memory.ToldAt) >= v.Notify.PerHour {
		v.tellNext = v.memory.ToldAt[0].Add(window)
		return false
	}
	notice := &v.memory.Pending[0]
	err := v.Teller.Tell(ctx, *notice)
	switch {
	case ctx.Err() != nil:
		return false // it is told by the next watch
	case err != nil && !v.deaf:
		v.say(DidNotTell, notice.Handle, fmt.Sprintf("that it is %s: %v", notice.Kind, err))
	}
	if v.deaf = err != nil; v.deaf {
		notice.Tries++
		v.tellNext = now.Add(pause)
	}
	if err == nil || notice.Tries >= tries {
		v.memory.Pending = v.memory.Pending[1:]
		v.memory.ToldAt = append(v.memory.ToldAt, now)
	}
	_ = v.Desk.Remember(v.memory) // else the next watch tells it once more
	return true
}
