package compose

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/teamfile"
)

// carried is a plan that a test carries out.
type carried struct {
	began  []agent.Handle
	errs   map[agent.Handle]error
	waited []string
}

// carryOut does all steps. act does one; nil does nothing. await says how a wait ends.
func carryOut(ctx context.Context, steps []Step, atOnce int, act func(*Step) error, await func(agent.Handle) error) carried {
	c := carried{errs: map[agent.Handle]error{}}
	var m sync.Mutex
	run := NewRun(steps, atOnce)
	run.Await = func(_ context.Context, first *Step, until teamfile.Condition, by agent.Handle) error {
		m.Lock()
		c.waited = append(c.waited, string(by)+" for "+string(first.Handle)+" "+string(until))
		m.Unlock()
		return await(first.Handle)
	}
	var all sync.WaitGroup
	for i := range steps {
		all.Go(func() {
			err := run.Do(ctx, steps[i].Handle, func(step *Step) error {
				m.Lock()
				c.began = append(c.began, step.Handle)
				m.Unlock()
				return act(step)
			})
			m.Lock()
			defer m.Unlock()
			c.errs[steps[i].Handle] = err
		})
	}
	all.Wait()
	slices.Sort(c.waited)
	return c
}

func well(*Step) error         { return nil }
func there(agent.Handle) error { return nil }

func planned(t *testing.T, names []string, now map[agent.Handle]Seen, lines ...string) []Step {
	t.Helper()
	steps, err := PlanUp(team(lines...), Selection{Names: names}, seen(now))
	rig.Must(t, err)
	return steps
}

// Each begins after those that it depends on, and waits for what it needs of them.
func TestStepsAreDoneInOrder(t *testing.T) {
	t.Parallel()
	steps := planned(t, nil, map[agent.Handle]Seen{"alpha": running}, "delta gamma=first-turn-done beta=started", "gamma beta=idle", "beta alpha", "alpha")
	c := carryOut(t.Context(), steps, 4, well, there)
	rig.Check(t, slices.Equal(c.began, []agent.Handle{"beta", "gamma", "delta"}), "began: %q", c.began)
	want := []string{"beta for alpha ready", "delta for gamma first-turn-done", "gamma for beta idle"}
	rig.Check(t, slices.Equal(c.waited, want), "waited: %q", c.waited)
}

// Steps that do not depend on each other are done side by side, up to a limit.
func TestStepsAreDoneSideBySide(t *testing.T) {
	t.Parallel()
	const atOnce = 2
	steps := planned(t, nil, nil, "a", "b", "c", "d")
	var m sync.Mutex
	both := make(chan struct{})
	busy, most, left := 0, 0, len(steps)
	c := carryOut(t.Context(), steps, atOnce, func(*Step) error {
		m.Lock()
		busy, left = busy+1, left-1
		if most = max(most, busy); busy == atOnce && left == len(steps)-atOnce {
			close(both)
		}
		m.Unlock()
		<-both // the first waits for the second
		m.Lock()
		defer m.Unlock()
		busy--
		return nil
	}, there)
	rig.Check(t, most == atOnce && len(c.began) == len(steps), "%d at a time, of %q", most, c.began)
}

// A failure stops only what depends on it.
func TestAFailureStopsWhatDependsOnIt(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		lines  []string
		kind   fail.Kind // of alpha's failure
		misses string    // of the waits
		began  string
		says   string // of beta
	}{
		"a start that failed":             {[]string{"alpha", "beta alpha", "gamma beta", "delta"}, fail.Failed, "", "alpha delta", "alpha, which could not be started"},
		"a dialog, and ready is needed":   {[]string{"alpha", "beta alpha", "gamma", "delta"}, fail.Held, "", "alpha delta gamma", "alpha, which could not be started"},
		"a dialog, and started is enough": {[]string{"alpha", "beta alpha=started", "gamma", "delta"}, fail.Held, "", "alpha beta delta gamma", ""},
		"late, and started is enough":     {[]string{"alpha", "beta alpha=started", "gamma", "delta"}, fail.TimedOut, "", "alpha beta delta gamma", ""},
		"a condition is not met":          {[]string{"alpha", "beta alpha=idle", "gamma beta", "delta"}, 0, "alpha", "alpha delta", "not met"},
	} {
		steps := planned(t, nil, nil, c.lines...)
		got := carryOut(t.Context(), steps, 1, func(step *Step) error {
			if step.Handle == "alpha" && c.kind != 0 {
				return fail.Errorf(c.kind, "no")
			}
			return nil
		}, func(handle agent.Handle) error {
			if string(handle) == c.misses {
				return errors.New("not met")
			}
			return nil
		})
		slices.Sort(got.began)
		began := strings.Join(agent.Mapped(got.began, func(h agent.Handle) string { return string(h) }), " ")
		beta := got.errs["beta"]
		rig.Check(t, began == c.began, "%s: began %q, want %q", what, began, c.began)
		rig.Check(t, (beta == nil) == (c.says == "") && (beta == nil || strings.Contains(beta.Error(), c.says)), "%s: %v", what, beta)
	}
}

func TestNothingStartsForWhomAPersonHasStopped(t *testing.T) {
	t.Parallel()
	steps := planned(t, []string{"beta"}, map[agent.Handle]Seen{"alpha": stopped}, "alpha", "beta alpha=started")
	c := carryOut(t.Context(), steps, 1, well, there)
	beta := c.errs["beta"]
	rig.Check(t, len(c.began) == 0 && fail.KindOf(beta) == fail.Held && slices.Contains(fail.HintsOf(beta), "to start both: nbs-worker up alpha beta"), "%q, %v, %q", c.began, beta, fail.HintsOf(beta))
}

// Nothing begins after an interrupt, and nothing waits on.
func TestAnInterruptEndsARun(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	steps := planned(t, nil, nil, "alpha", "beta alpha=started", "gamma beta")
	c := carryOut(ctx, steps, 1, func(*Step) error { interrupt(); return nil }, there)
	rig.Check(t, slices.Equal(c.began, []agent.Handle{"alpha"}) && c.errs["alpha"] == nil, "%q, %v", c.began, c.errs)
	for _, handle := range []agent.Handle{"beta", "gamma"} {
		rig.Check(t, fail.KindOf(c.errs[handle]) == fail.Interrupted, "%s: %v", handle, c.errs[handle])
	}
}

// Those that depend on an agent stop before it, and if one cannot be stopped, the others are stopped.
func TestDownGoesOnAfterAFailure(t *testing.T) {
	t.Parallel()
	now := map[agent.Handle]Seen{"alpha": running, "beta": running, "gamma": stopped}
	steps, err := PlanDown(team("alpha", "beta alpha", "gamma alpha"), Selection{}, seen(now))
	rig.Must(t, err)
	c := carryOut(t.Context(), steps, 4, func(step *Step) error {
		if step.Handle == "beta" {
			return errors.New("no")
		}
		return nil
	}, there)
	rig.Check(t, slices.Equal(c.began, []agent.Handle{"beta", "alpha"}) && c.errs["alpha"] == nil, "%q, %v", c.began, c.errs)
}
