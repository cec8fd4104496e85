package bench

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

func TestMain(m *testing.M) {
	code := rig.Main(m, 10*time.Minute)
	if tools.dir != "" {
		_ = os.RemoveAll(tools.dir) // a temporary folder
	}
	os.Exit(code)
}

// tools are the programs that are measured against, built once.
var tools struct {
	once sync.Once
	dir  string
	err  error
}

func builtTools(t *testing.T) string {
	t.Helper()
	tools.once.Do(func() {
		if tools.dir, tools.err = os.MkdirTemp("", "nbs-tools"); tools.err == nil {
			tools.err = BuildTools(context.Background(), tools.dir)
		}
	})
	rig.Must(t, tools.err)
	return tools.dir
}

// tiny is the least of everything, in a temporary folder that must be empty at the end.
func tiny(t *testing.T) Options {
	t.Helper()
	tools, worker := builtTools(t), rig.Worker(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Cleanup(func() {
		left, err := os.ReadDir(temp)
		rig.Check(t, err == nil && len(left) == 0, "left behind: %v, %v", left, err)
	})
	return Options{
		Worker: worker, Tools: tools, Agents: []int{1, 2}, Effort: Effort{Min: 1, Max: 1}, Recovered: 2, Log: t.Output(),
	}
}

// The stand-in is measured, which is as good here: see the package contract. How fast Claude Code is is not tested.
func TestEverythingIsMeasured(t *testing.T) {
	opts := tiny(t)
	opts.Claude = rig.StandIn(t)
	result, err := Run(t.Context(), opts)
	rig.Must(t, err)
	for name, times := range map[string]int{
		"`session <handle>`": 2, "`list`": 2, "`spawn` until claude's first byte": 2, "`spawn` until Claude Code is ready": 1, "`resume --down` after `kill-server`": 1,
		"`ask`": 1, "`ask`, without the time for which claude runs": 1, "`ask` of a warm conversation, without the API's own time": 1,
		"start-up: `version`": 1, "start-up: the launcher": 1, "`hook`": 1, "`hook`, memory on": 1, "`statusline`": 1,
	} {
		var found []Pair
		for _, p := range result.Pairs {
			if p.Name == name {
				found = append(found, p)
			}
		}
		rig.Check(t, len(found) == times, "%s was measured %d times", name, len(found))
		for _, p := range found {
			rig.Check(t, p.Floor.Median > 0 && p.Ours.Median > 0 && p.Floor.Samples == 1 && p.Ours.Samples == 1, "%s: %+v", name, p)
		}
	}
	wantVerbs(t, result)
	rig.Check(t, result.Inits.Sum > 0 && len(result.Inits.Dearest) == 5, "inits: %+v", result.Inits)
	rig.Check(t, len(result.Checks) == 10, "checks: %+v", result.Checks)
	var out bytes.Buffer
	err = result.Print(&out)
	rig.Check(t, err == nil && strings.Contains(out.String(), "session <handle>"), "%v\n%s", err, out.String())
	t.Log(out.String())
}

// wantVerbs checks the counts that do not depend on how fast something is.
func wantVerbs(t *testing.T, r Result) {
	t.Helper()
	var names []string
	for _, v := range r.Verbs {
		names = append(names, v.Name)
		switch {
		case v.Name == "list" && v.Tmux != 1:
			t.Errorf("list starts %d tmux processes", v.Tmux)
		case v.Name == "spawn" && (v.Tmux < 1 || v.Others < 2):
			t.Errorf("spawn starts tmux %d times and %d other processes: no launcher, or no claude", v.Tmux, v.Others)
		}
	}
	want := []string{"spawn", "list", "session", "stop", "resume", "dismiss"}
	rig.Check(t, slices.Equal(names, want), "verbs = %q", names)
}

// cancelAt cancels when it is told of a step.
type cancelAt struct {
	step   string
	cancel context.CancelFunc
}

func (c cancelAt) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(c.step)) {
		c.cancel()
	}
	return len(line), nil
}

func TestInterruptLeavesNothing(t *testing.T) {
	opts := tiny(t)
	ctx, cancel := context.WithCancel(t.Context())
	opts.Log = cancelAt{"a team of 2", cancel}
	_, err := Run(ctx, opts)
	rig.Check(t, errors.Is(err, context.Canceled), "Run = %v", err)
}

func TestWrongAnswerIsNoSample(t *testing.T) {
	w := &world{}
	_, err := w.timed("expected", "echo", "something else")(t.Context())
	rig.Check(t, err != nil, "a wrong answer was measured")
	_, err = w.timed("", "false")(t.Context())
	rig.Check(t, err != nil, "a failure was measured")
}

func TestTurnsAlternate(t *testing.T) {
	var order []string
	side := func(name string, took time.Duration) sampler {
		return func(context.Context) (time.Duration, error) {
			order = append(order, name)
			return took, nil
		}
	}
	floor, ours, err := interleave(t.Context(), Effort{Min: 2, Max: 4}, side("A", time.Millisecond), side("B", 3*time.Millisecond))
	rig.Must(t, err)
	got := strings.Join(order, "")
	rig.Check(t, got == "BAABBA", "order = %s", got) // one round to warm up, then two: the time was over at once
	rig.Check(t, floor.Median == 1 && ours.Median == 3 && floor.Samples == 2, "floor %+v, ours %+v", floor, ours)
}
