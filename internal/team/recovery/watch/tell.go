package watch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/triage"
)

// learn queues notices of what is new about an agent.
func (w *Watch) learn(c *watchedAgent, now time.Time) {
	quarantined := c.needs(&w.Policy) && w.isQuarantined(c)
	words := c.words()
	if quarantined {
		words = fmt.Sprintf("quarantined after %s in an hour: %s", human.Count(w.PerAgent, "repair"), words)
	}
	start, need := string(c.invocation), c.need
	isDown := need.Reason == attention.Down || c.status.Cause != agent.Exited && !c.Verdict.IsWell()
	short, detail := c.shortage(w.Bands)
	// A held agent is reported as held only if no other word says why.
	isNamed := need.Reason == attention.Waits || need.Reason == attention.Short
	for _, is := range []struct {
		kind  Kind
		so    bool
		mark  string // an event with the same mark is reported once
		words string
		quiet bool // it is not reported
	}{
		{Waits, c.Verdict == triage.Waiting || need.Reason == attention.Waits, start + " " + c.status.Detail, words, false},
		{Down, isDown && c.status.Down() && c.Until.IsZero(), start, words, false},
		{Short, short != "", short, detail, false},
		{Done, need.Reason == attention.Done && c.Verdict != triage.Held, need.Since.UTC().Format(time.RFC3339Nano), words, false},
		{Holds, quarantined || c.holds || c.Verdict == triage.Held, fmt.Sprint(quarantined, " ", start, " ", c.Steps), words, !quarantined && isNamed},
	} {
		switch {
		case !is.so:
			w.state.endReport(c.handle, is.kind)
		case w.state.firstReport(c.handle, is.kind, is.mark):
			if !is.quiet {
				w.pendAt(c, is.kind, is.words, now)
			}
			if is.kind == Holds {
				w.say(SawHeld, c.handle, words)
			}
		}
	}
}

// shortage says of what an agent is short: its mark, and in words; "" if of nothing.
func (c *watchedAgent) shortage(bands agent.Bands) (mark, words string) {
	words = c.words()
	if c.left != nil && bands.Of(*c.left) != agent.Healthy {
		band := string(bands.Of(*c.left))
		mark, words = string(c.session)+" "+band, band+": "+words
	}
	if c.need.Reason == attention.Short && c.status.State == agent.TurnFailed { // a usage limit
		mark += " " + c.need.Since.UTC().Format(time.RFC3339)
	}
	if c.spending.Over() {
		mark += fmt.Sprint(" ", c.spending.Budget, " ", c.spending.Began.Unix())
		words = c.spending.Why() + "; " + words
	}
	return mark, words
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
	if string(kind) == string(c.need.Reason) {
		notice.Since = c.need.Since.UTC()
	}
	if kind == Short {
		notice.ContextLeft = c.left
	}
	w.state.Pend(notice)
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

// tellOne sends the oldest notice, and reports whether it tried.
func (w *Watch) tellOne(ctx context.Context) bool {
	if w.Teller == nil || w.Notify == nil {
		return false
	}
	tried := w.sender.One(ctx, w.Teller, w.Notify.PerHour, &w.state, func(notice *Notice, err error) {
		w.say(DidNotTell, notice.Handle, fmt.Sprintf("that it is %s: %v", notice.Kind, err))
	})
	if tried {
		_ = w.Keeper.SaveState(w.state) // without it, the next watch sends the notice once more
	}
	return tried
}
