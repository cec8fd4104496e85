package recovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/launch"
	"nbs-worker/internal/team/triage"
)

// How far a run may go.
var (
	yes   = Options{MaxLevel: triage.LevelFresh, Fresh: true}
	no    = Options{MaxLevel: triage.LevelFresh}
	named = Options{MaxLevel: triage.LevelFresh, Named: true}
	low   = Options{MaxLevel: triage.LevelCompact}
)

// What is done to each, why it is left, and how it is then.
var ladders = map[string]struct {
	agent *patient
	o     Options
	done  string
	left  string
	after triage.Verdict
}{
	"well":             {is("a", triage.Idle, 0), yes, "", "", triage.Idle},
	"stopped":          {is("a", triage.Stopped, 0), yes, "", "", triage.Stopped},
	"asks":             {is("a", triage.Waiting, 0), yes, "", "it needs a person", triage.Waiting},
	"unknown":          {is("a", triage.Unknown, 0), yes, "", "it needs a person", triage.Unknown},
	"held":             {is("a", triage.Held, 3), yes, "", "it needs a person", triage.Held},
	"held, and named":  {is("a", triage.Held, 3), named, "resume a", "", triage.Idle},
	"asks, and named":  {is("a", triage.Waiting, 0), named, "", "it needs a person", triage.Waiting},
	"dead":             {is("a", triage.Dead, 3), no, "resume a", "", triage.Idle},
	"dead, to level 2": {is("a", triage.Dead, 3), low, "", "it needs level 3, resume, and no more than level 2 is permitted", triage.Dead},
	"cannot come back": {change(is("a", triage.Dead, 3), func(a *patient) { a.resume = errors.New("no claude") }), yes, "resume a", "resume did not help, and nothing else would", triage.Dead},
	"being repaired": {
		change(is("a", triage.Dead, 3), func(a *patient) { a.resume = fail.Errorf(fail.Conflict, "resume a, pid 7") }), yes, "resume a", "resume a, pid 7", triage.Dead,
	},
	"at a dialog": {
		change(is("a", triage.Dead, 3), func(a *patient) { a.resume = fail.Errorf(fail.Held, "it asks") }), yes, "resume a", "it needs a person: it asks", triage.Dead,
	},
	"lost its memory":             {is("a", triage.Missing, 4), yes, "replace a, fresh a", "", triage.Idle},
	"lost its memory, not asked":  {is("a", triage.Missing, 4), no, "", "it needs level 4, a new conversation in place of its own, which is not permitted", triage.Missing},
	"low":                         {is("a", triage.Stressed, 2), no, "unload a", "", triage.Idle},
	"low, and at work":            {change(is("a", triage.Stressed, 2), func(a *patient) { a.Working = true }), yes, "", "it is working, and is not touched", triage.Stressed},
	"at the floor":                {is("a", triage.Stressed, 4), yes, "replace a, fresh a", "", triage.Idle},
	"compaction does not help":    {change(is("a", triage.Stressed, 2), func(a *patient) { a.unload = errFloor }), yes, "unload a, replace a, fresh a", "", triage.Idle},
	"compaction, and not allowed": {change(is("a", triage.Stressed, 2), func(a *patient) { a.unload = errFloor }), no, "unload a", "it needs level 4, a new conversation in place of its own, which is not permitted", triage.Stressed},
	"the API does not compact": {
		change(is("a", triage.Stressed, 2), func(a *patient) { a.unload = errors.New("529") }), yes, "unload a", "interrupt and compact did not help, and nothing else would", triage.Stressed,
	},
	"stuck":                    {is("a", triage.Stuck, 2), no, "unload a", "", triage.Idle},
	"stuck, and reacts":        {change(is("a", triage.Stuck, 2), func(a *patient) { a.reacts = true }), no, "", "", triage.Healthy},
	"stuck in spite of Escape": {change(is("a", triage.Stuck, 2), func(a *patient) { a.unload = errors.New("it goes on") }), no, "unload a, resume a", "", triage.Idle},
	"zombie":                   {is("a", triage.Zombie, 3), no, "resume a", "", triage.Idle},
	"is being started":         {is("a", triage.Dead, 1), no, "", "ping did not help, and nothing else would", triage.Dead},
	"is started again":         {change(is("a", triage.Dead, 1), func(a *patient) { a.reacts = true }), no, "", "", triage.Healthy},
	"waits to be started": {
		change(is("a", triage.Dead, 1), func(a *patient) { a.next = time.Minute }), yes, "", "it is left to its launcher: code 1; starts again in 1m0s", triage.Dead,
	},
	"is soon started again": {change(is("a", triage.Dead, 1), func(a *patient) { a.next, a.reacts = 15*time.Second, true }), yes, "", "", triage.Healthy},
	"back, and nearly full": {change(is("a", triage.Dead, 3), func(a *patient) { a.resumed = triage.Stressed }), no, "resume a, unload a", "", triage.Idle},
	"back, and at the floor": {
		change(is("a", triage.Dead, 3), func(a *patient) { a.resumed, a.unload = triage.Stressed, errFloor }), yes, "resume a, unload a, replace a, fresh a", "", triage.Idle,
	},
	"falls again": {change(is("a", triage.Dead, 3), func(a *patient) { a.resumed = triage.Dead }), yes, "resume a", "resume did not help, and nothing else would", triage.Dead},
	"falls when it is compacted": {
		change(is("a", triage.Stressed, 2), func(a *patient) { a.unloaded = triage.Dead }), yes, "unload a, resume a", "", triage.Idle,
	},
	"back, at a dialog": {change(is("a", triage.Dead, 3), func(a *patient) { a.resumed = triage.Waiting }), yes, "resume a", "it needs a person", triage.Waiting},
}

func TestTheLadder(t *testing.T) {
	t.Parallel()
	for name, c := range ladders {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(c.agent)
				got := w.run(t, c.o).Cases[0]
				if done := strings.Join(w.done, ", "); done != c.done || got.Left != c.left || got.After.Verdict != c.after {
					t.Errorf("%q, left %q, and is %s; want %q, %q, %s\n%s", done, got.Left, got.After.Verdict, c.done, c.left, c.after, strings.Join(w.noted, "\n"))
				}
				if w.cutLooks {
					t.Error("a look would be cut off")
				}
				if steps := 2 * len(got.Steps); len(w.noted) != steps {
					t.Errorf("%d lines in the journal; want %d: %q", len(w.noted), steps, w.noted)
				}
			})
		})
	}
}

// What the caller leaves is left, also after a step that has shown that there is more to do.
func TestWhatTheCallerLeaves(t *testing.T) {
	t.Parallel()
	o := no
	o.Leave = func(p *Patient) bool { return p.Verdict == triage.Stressed }
	w := newWorld(change(is("a", triage.Dead, 3), func(a *patient) { a.resumed = triage.Stressed }), is("b", triage.Stressed, 2))
	report := w.run(t, o)
	if got := strings.Join(w.done, ", "); got != "resume a" {
		t.Errorf("%s", got)
	}
	for _, c := range report.Cases {
		if c.Left != "it is left as it is" {
			t.Errorf("%s is left: %q", c.Handle, c.Left)
		}
	}
}

func TestWhoIsCompactedAfterAnInterrupt(t *testing.T) {
	t.Parallel()
	usual := Limits{Bands: agent.DefaultBands}
	never := Limits{Bands: agent.DefaultBands, Compact: func(int) bool { return false }}
	if usual.compacts(90) || !usual.compacts(20) || never.compacts(1) {
		t.Errorf("at 90, 20, and by a policy of none: %t, %t, %t", usual.compacts(90), usual.compacts(20), never.compacts(1))
	}
}

func TestStartsAreStaggered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(is("a", triage.Dead, 3), is("b", triage.Idle, 0), is("c", triage.Dead, 3), is("d", triage.Stressed, 2), is("e", triage.Dead, 3))
		report := w.run(t, Options{Handles: []agent.Handle{"e", "a", "b", "c", "d"}, MaxLevel: triage.LevelFresh, Stagger: 5 * time.Second})
		if got := strings.Join(w.done, ", "); got != "resume e, resume a, resume c, unload d" {
			t.Errorf("%s", got)
		}
		for i, want := range []time.Duration{0, 5 * time.Second, 10 * time.Second, 10 * time.Second} {
			if got := w.at[i].Sub(w.at[0]); got != want {
				t.Errorf("%s after %s; want %s", w.done[i], got, want)
			}
		}
		for _, c := range report.Cases {
			if !c.After.Verdict.IsWell() || c.Left != "" {
				t.Errorf("%+v", c)
			}
		}
		if len(w.attempts) != 0 {
			t.Errorf("repairs of agents that are well are remembered: %+v", w.attempts)
		}
	})
}

// One failure does not keep the others from their turn; some in a row do, and a login at once.
func TestWhatStopsARun(t *testing.T) {
	t.Parallel()
	fails := func(handle agent.Handle, err error) *patient {
		return change(is(handle, triage.Dead, 3), func(a *patient) { a.resume = err })
	}
	disk := errors.New("disk full")
	for name, c := range map[string]struct {
		agents  []*patient
		done    string
		stopped string
	}{
		"one":         {[]*patient{fails("a", disk), is("b", triage.Dead, 3)}, "resume a, resume b", ""},
		"two, apart":  {[]*patient{fails("a", disk), is("b", triage.Dead, 3), fails("c", disk), is("d", triage.Dead, 3)}, "resume a, resume b, resume c, resume d", ""},
		"in a row":    {[]*patient{fails("a", disk), fails("b", disk), is("c", triage.Dead, 3)}, "resume a, resume b", "2 starts failed in a row"},
		"a login":     {[]*patient{fails("a", fail.Errorf(fail.Held, "%w", launch.ErrNotLoggedIn)), is("b", triage.Dead, 3)}, "resume a", "claude is not logged in, after the start of a"},
		"locks":       {[]*patient{fails("a", fail.Errorf(fail.Conflict, "x")), fails("b", fail.Errorf(fail.Conflict, "x")), is("c", triage.Dead, 3)}, "resume a, resume b, resume c", ""},
		"its dialogs": {[]*patient{fails("a", fail.Errorf(fail.Held, "x")), fails("b", fail.Errorf(fail.Held, "x")), is("c", triage.Dead, 3)}, "resume a, resume b, resume c", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(c.agents...)
				report := w.run(t, Options{MaxLevel: triage.LevelFresh, GiveUp: 2})
				if done := strings.Join(w.done, ", "); done != c.done || report.Stopped != c.stopped {
					t.Errorf("%q, stopped %q; want %q, %q", done, report.Stopped, c.done, c.stopped)
				}
				if two := report.Cases[1]; name == "in a row" && two.Left != "nothing more is begun: "+c.stopped {
					t.Errorf("%q, of one that was begun", two.Left)
				}
				if last := report.Cases[len(report.Cases)-1]; c.stopped != "" && last.Left != "not begun: "+c.stopped {
					t.Errorf("%q", last.Left)
				}
			})
		})
	}
}

// A run that is killed at any moment, and run again, comes to where one comes that was not killed.
// Nothing is done twice that has helped.
func TestKilledAnywhereAndRunAgain(t *testing.T) {
	t.Parallel()
	team := func() *world {
		return newWorld(is("a", triage.Dead, 3), is("b", triage.Stressed, 2), is("c", triage.Missing, 4), is("d", triage.Stuck, 2), is("e", triage.Idle, 0),
			change(is("f", triage.Stressed, 2), func(a *patient) { a.unload = errFloor }))
	}
	o := Options{MaxLevel: triage.LevelFresh, Fresh: true, Stagger: 5 * time.Second}
	ended := false
	for kill := 1; !ended; kill++ {
		synctest.Test(t, func(t *testing.T) {
			w := team()
			w.killAt = kill
			w.run(t, o)
			ended = w.calls < kill
			w.killAt = 0
			report := w.run(t, o)
			for _, c := range report.Cases {
				if !c.After.Verdict.IsWell() {
					t.Errorf("killed at %d: %s is %s: %s", kill, c.Handle, c.After.Verdict, c.Left)
				}
			}
			want := []string{"fresh c", "fresh f", "replace c", "replace f", "resume a", "unload b", "unload d", "unload f"}
			slices.Sort(w.done)
			if got := slices.Compact(slices.Clone(w.done)); !slices.Equal(got, want) {
				t.Errorf("killed at %d: %q; want %q", kill, got, want)
			}
			for i, what := range w.done[1:] { // what did not help may be tried again where that was not written down
				if what == w.done[i] && what != "unload f" {
					t.Errorf("killed at %d: %s was done twice", kill, what)
				}
			}
			for _, handle := range []agent.Handle{"c", "f"} {
				if w.agents[handle].freshWith != "old" {
					t.Errorf("killed at %d: %s was told of the conversation %q", kill, handle, w.agents[handle].freshWith)
				}
			}
			if len(w.attempts) != 0 {
				t.Errorf("killed at %d: %+v", kill, w.attempts)
			}
		})
	}
}

// What it cost to find out that a conversation cannot be compacted is not paid again.
func TestTheFloorIsRemembered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(change(is("a", triage.Stressed, 2), func(a *patient) { a.unload = errFloor }))
		for range 3 {
			w.run(t, Options{MaxLevel: triage.LevelFresh})
		}
		if got := strings.Join(w.done, ", "); got != "unload a" {
			t.Errorf("%s", got)
		}
		w.agents["a"].session = "another" // of which nobody knows yet
		w.run(t, Options{MaxLevel: triage.LevelFresh})
		if got := strings.Join(w.done, ", "); got != "unload a, unload a" {
			t.Errorf("%s", got)
		}
	})
}

func TestAPlanChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(is("a", triage.Dead, 3), is("b", triage.Stuck, 2), is("c", triage.Waiting, 0))
	o := Options{Handles: []agent.Handle{"a", "b", "c"}, MaxLevel: triage.LevelFresh}
	l := &Ladder{Verbs: w, Memory: w}
	var first []string
	for _, c := range l.Plan(t.Context(), o) {
		level, begins := l.First(&c, o)
		first = append(first, fmt.Sprintf("%s %s %t %s", c.Handle, level, begins, c.Left))
	}
	want := []string{"a resume true ", "b ping true ", "c look false it needs a person"}
	if !slices.Equal(first, want) || w.calls != 0 {
		t.Errorf("%q, after %d calls; want %q", first, w.calls, want)
	}
}

func TestOneRunAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(is("a", triage.Dead, 3))
	w.locked = fail.Errorf(fail.Conflict, "recover, pid 7")
	_, err := (&Ladder{Verbs: w, Memory: w}).Run(t.Context(), Options{Handles: []agent.Handle{"a"}, MaxLevel: triage.LevelFresh})
	if fail.KindOf(err) != fail.Conflict || w.calls != 0 {
		t.Errorf("%v, %d calls", err, w.calls)
	}
}

func TestAnInterruptEndsTheRunAfterItsStep(t *testing.T) {
	t.Parallel()
	w := newWorld(is("a", triage.Dead, 3), is("b", triage.Dead, 3))
	ctx, stop := context.WithCancel(t.Context())
	report, err := (&Ladder{Verbs: w, Memory: w}).Run(ctx, Options{
		Handles: []agent.Handle{"a", "b"}, MaxLevel: triage.LevelFresh, Progress: func(*Case) { stop() },
	})
	if !errors.Is(err, context.Canceled) || strings.Join(w.done, ", ") != "resume a" || report.Cases[1].Left != "not begun: the run was interrupted" {
		t.Errorf("%v, %q, %+v", err, w.done, report.Cases)
	}
}
