package watch

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
func (w *Watch) learn(c *watchedAgent, now time.Time) {
	quarantined := c.needs(&w.Policy) && w.isQuarantined(c)
	words := c.words()
	if quarantined {
		words = fmt.Sprintf("quarantined after %s in an hour: %s", human.Count(w.PerAgent, "repair"), words)
	}
	band := agent.Healthy
	if c.left != nil {
		band = w.Bands.Of(*c.left)
	}
	start := string(c.invocation)
	for _, is := range []struct {
		kind  Kind
		so    bool
		mark  string // an event with the same mark is reported once
		words string
	}{
		{Waits, c.Verdict == triage.Waiting, start + " " + c.status.Detail, words},
		{Crashed, c.status.Down() && c.status.Cause != agent.Exited && !c.Verdict.IsWell() && c.Until.IsZero(), start, words},
		{Holds, quarantined || c.holds || c.Verdict == triage.Held, fmt.Sprint(quarantined, " ", start, " ", c.Steps), words},
		{Fills, band != agent.Healthy, string(c.session) + " " + string(band), fmt.Sprintf("%s: %s", band, words)},
	} {
		switch {
		case !is.so:
			w.state.endReport(c.handle, is.kind)
		case w.state.firstReport(c.handle, is.kind, is.mark):
			w.pendAt(c, is.kind, is.words, now)
			if is.kind == Holds {
				w.say(SawHeld, c.handle, words)
			}
		}
	}
}

// words returns the state of the agent, with the evidence for it.
func (c *watchedAgent) words() string {
	return fmt.Sprintf("%s: %s", c.Verdict, strings.Join(c.Evidence, "; "))
}

func (w *Watch) pend(c *watchedAgent, kind Kind, detail string) {
	w.pendAt(c, kind, detail, time.Now())
	_ = w.Keeper.SaveState(w.state) // it is sent anyway, unless this watch is killed before
}

// pendAt keeps a notice until it is sent; if there are too many, it keeps the latest.
func (w *Watch) pendAt(c *watchedAgent, kind Kind, detail string, now time.Time) {
	if w.Notify == nil || !slices.Contains(w.Notify.Of, kind) {
		return
	}
	notice := Notice{Kind: kind, At: now.UTC().Truncate(time.Second), Handle: c.handle, SessionID: c.session, Detail: detail}
	if kind == Fills {
		notice.ContextLeft = c.left
	}
	const most = 100
	w.state.Pending = append(w.state.Pending, notice)
	w.state.Pending = w.state.Pending[max(0, len(w.state.Pending)-most):]
}

// tell sends pending notices before a repair, which may take minutes, and reports whether it tried. It stops after a
// short time: repairs must not wait until a slow program has sent all notices.
func (w *Watch) tell(ctx context.Context) (tried bool) {
	const most = 10 * time.Second
	for begun := time.Now(); time.Since(begun) < most && w.tellOne(ctx); {
		tried = true
	}
	return tried
}

// tellOne sends the oldest notice, and reports whether it tried. A failed notice is tried a few times, with a pause
// between.
func (w *Watch) tellOne(ctx context.Context) bool {
	const tries, pause = 3, time.Minute
	now := time.Now()
	if w.Teller == nil || len(w.state.Pending) == 0 || w.tellNext.After(now) {
		return false
	}
	if len(w.state.ToldAt) >= w.Notify.PerHour {
		w.tellNext = w.state.ToldAt[0].Add(window)
		return false
	}
	notice := &w.state.Pending[0]
	err := w.Teller.Tell(ctx, *notice)
	switch {
	case ctx.Err() != nil:
		return false // the next watch sends it
	case err != nil && !w.deaf:
		w.say(DidNotTell, notice.Handle, fmt.Sprintf("that it is %s: %v", notice.Kind, err))
	}
	if w.deaf = err != nil; w.deaf {
		notice.Tries++
		w.tellNext = now.Add(pause)
	}
	if err == nil || notice.Tries >= tries {
		w.state.Pending = w.state.Pending[1:]
		w.state.ToldAt = append(w.state.ToldAt, now)
	}
	_ = w.Keeper.SaveState(w.state) // without it, the next watch sends the notice once more
	return true
}
