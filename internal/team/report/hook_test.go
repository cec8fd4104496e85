package report

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/trust"
)

const first, next = agent.Invocation("4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11"), agent.Invocation("5f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11")

// withAlpha makes a project whose agent alpha is in its next start.
func withAlpha(t *testing.T) *store.Store {
	t.Helper()
	dir := rig.MemoryDir(t)
	opened, err := store.Create(dir)
	rig.Must(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	opened.Use(trust.NewKeeper(trust.Home(dir + "/state")))
	unlock, err := opened.LockVerb("alpha", "spawn", time.Now()) // which makes the folders
	rig.Must(t, err)
	unlock()
	rig.Must(t, opened.Insert(t.Context(), agent.Record{
		Spec: agent.Spec{Schema: agent.Schema, Handle: "alpha", SessionID: agent.NewSessionID(), ProjectRoot: dir}, TmuxSession: "nbs-alpha-live",
		Process: &agent.Process{Invocation: next},
	}))
	return opened
}

// A call that comes to its turn when the next start runs does not write over what that one has
// said. What is said after the clock was put back is not older than what was said before.
func TestReportOfAnEarlierStartAndOfAnEarlierClock(t *testing.T) {
	t.Parallel()
	opened := withAlpha(t)
	says := func(start agent.Invocation, at time.Time, hook string) error {
		return Caller{Machine: local.New(), Handle: "alpha", Invocation: start}.report(t.Context(), opened, at, func(r *agent.Report) {
			if r.Activity == nil || !at.Before(r.Activity.At) { // as hooks that overtake each other
				r.Activity = &agent.Activity{Hook: hook, At: at}
			}
		})
	}
	now := time.Now()
	for _, c := range []struct {
		start agent.Invocation
		at    time.Time
		hook  string
		want  string // the hook that the report has then
	}{{next, now.Add(time.Hour), "Stop", "Stop"}, {first, now.Add(2 * time.Hour), "UserPromptSubmit", "Stop"}, {next, now, "SessionStart", "SessionStart"}} {
		err := says(c.start, c.at, c.hook)
		if report := opened.Report("alpha"); report.Invocation != next || report.Activity.Hook != c.want || errors.Is(err, agent.ErrSuperseded) != (c.start == first) {
			t.Errorf("%s of %s: %+v, %v", c.hook, c.start, report.Activity, err)
		}
	}
}

// A level that the status line repeats is told to be as old as its first call: claude may have started this one before a
// compaction that is over when it is heard, and then it would count as the level after it.
func TestRepeatedLevelIsAsOldAsItsFirst(t *testing.T) {
	t.Parallel()
	opened := withAlpha(t)
	const window = `"context_window":{"context_window_size":1000,"used_percentage":%d,"current_usage":{"input_tokens":%d}},"cost":{"total_cost_usd":%d}`
	begun := time.Now().UTC().Add(-time.Minute)
	for at, c := range []struct{ percent, cost, since int }{{88, 1, 0}, {88, 1, 0}, {88, 2, 0}, {0, 2, 3}, {0, 2, 3}, {5, 3, 5}} {
		line, err := ReadStatusLine(strings.NewReader(fmt.Sprintf("{"+window+"}", c.percent, 10*c.percent, c.cost)))
		rig.Must(t, err)
		rig.Must(t, line.Report(t.Context(), Caller{Machine: local.New(), Handle: "alpha", Invocation: next}, opened, begun.Add(time.Duration(at)*time.Second)))
		gauge := opened.Report("alpha").Gauge
		want := begun.Add(time.Duration(c.since) * time.Second)
		rig.Check(t, gauge.Since.Equal(want) && gauge.At.Equal(begun.Add(time.Duration(at)*time.Second)) && *gauge.UsedPercent == c.percent && int(gauge.CostUSD) == c.cost, "call %d: %+v; want it since %s", at, gauge, want)
	}
}

// A turn that ended is announced to the memory, where that is on; what a subagent has done is part of its agent's turn.
func TestTheEndOfATurnIsAnnouncedToTheMemory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		memory bool
		said   string
		want   int // announcements
	}{
		{true, `"hook_event_name":"Stop"`, 1}, {true, `"hook_event_name":"StopFailure","error":"rate_limit"`, 1},
		{true, `"hook_event_name":"SessionEnd","reason":"clear"`, 1}, {true, `"hook_event_name":"UserPromptSubmit"`, 0},
		{true, `"hook_event_name":"Stop","agent_id":"a1"`, 0}, {false, `"hook_event_name":"Stop"`, 0},
	} {
		dir, id, now := rig.MemoryDir(t), agent.NewSessionID(), time.Now()
		opened, err := store.Create(dir)
		rig.Must(t, err)
		defer opened.Close()
		opened.Use(trust.NewKeeper(trust.Home(dir + "/state")))
		unlock, err := opened.LockVerb("alpha", "spawn", now)
		rig.Must(t, err)
		unlock()
		rig.Must(t, opened.Insert(t.Context(), agent.Record{
			Spec:        agent.Spec{Schema: agent.Schema, Handle: "alpha", SessionID: id, ProjectRoot: dir, Memory: c.memory},
			TmuxSession: "nbs-alpha-live", Process: &agent.Process{Invocation: next},
		}))
		hook, err := ReadHook(strings.NewReader(`{"session_id":"` + string(id) + `",` + c.said + `}`))
		rig.Must(t, err)
		rig.Must(t, hook.Report(t.Context(), Caller{Machine: local.New(), Handle: "alpha", Invocation: next}, opened, now))
		all, err := opened.Spool().List()
		rig.Must(t, err)
		rig.Equal(t, len(all), c.want, "announcements of %s with memory %t", c.said, c.memory)
		rig.Check(t, c.want == 0 || all[0].SessionID == id && all[0].Handle == "alpha" && all[0].Invocation == next, "%+v", all)
	}
}
