package supervisor

import (
	"fmt"
	"os"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/proc"
	"nbs-worker/internal/store"
)

// The registry is contradicted in one thing only; a screen tells where nobody else does.
func TestRefine(t *testing.T) {
	t.Parallel()
	retry := &agent.Retry{Attempt: 4, Of: 10, In: 9 * time.Second}
	retrying := claude.Reading{State: agent.Retrying, Retry: retry}
	idle, busy := claude.Reading{State: agent.Idle}, claude.Reading{State: agent.Busy}
	trust := claude.Reading{State: agent.Waiting, Dialog: claude.DialogTrust}
	unknown, left := claude.Reading{State: agent.Unknown}, claude.Reading{State: agent.Dead}
	compacting := agent.Report{Activity: &agent.Activity{State: agent.Busy, Detail: "compacting", Hook: "PreCompact"}}
	failed := agent.Report{Activity: &agent.Activity{State: agent.Idle, Hook: "StopFailure"}, Failure: &agent.Failure{Class: "rate_limit"}}
	resumed := agent.Report{Activity: &agent.Activity{State: agent.Idle, Hook: "SessionStart"}, Failure: &agent.Failure{Class: "rate_limit"}}
	for what, c := range map[string]struct {
		state   agent.State
		source  string
		reading claude.Reading
		report  agent.Report
		want    string
	}{
		"busy is a retry":                 {agent.Busy, agent.FromRegistry, retrying, agent.Report{}, "retrying screen "},
		"busy stays":                      {agent.Busy, agent.FromRegistry, idle, agent.Report{}, "busy registry "},
		"busy with a dialog drawn":        {agent.Busy, agent.FromRegistry, trust, agent.Report{}, "busy registry "},
		"idle is no retry":                {agent.Idle, agent.FromRegistry, retrying, agent.Report{}, "idle registry "},
		"waiting stays":                   {agent.Waiting, agent.FromRegistry, retrying, agent.Report{}, "waiting registry "},
		"a turn interrupted":              {agent.Busy, agent.FromHooks, idle, agent.Report{}, "idle screen "},
		"hooks, and a screen that is dim": {agent.Busy, agent.FromHooks, unknown, agent.Report{}, "busy hooks "},
		"hooks, and claude has left":      {agent.Busy, agent.FromHooks, left, agent.Report{}, "busy hooks "},
		"nobody knows":                    {agent.Unknown, agent.FromProcess, busy, agent.Report{}, "busy screen "},
		"nobody can tell":                 {agent.Unknown, agent.FromProcess, unknown, agent.Report{}, "unknown process "},
		"a box before it is ready":        {agent.Starting, agent.FromProcess, idle, agent.Report{}, "starting process "},
		"a dialog before it is ready":     {agent.Starting, agent.FromProcess, trust, agent.Report{}, "waiting screen trust dialog"},
		"compacting":                      {agent.Busy, agent.FromRegistry, busy, compacting, "busy registry compacting"},
		"compacted":                       {agent.Idle, agent.FromRegistry, unknown, compacting, "idle registry "},
		"a failed turn":                   {agent.Idle, agent.FromRegistry, unknown, failed, "idle registry the last turn failed: rate_limit"},
		"a failure of an earlier turn":    {agent.Idle, agent.FromRegistry, unknown, resumed, "idle registry "},
	} {
		v := View{Status: agent.Status{State: c.state, Source: c.source, SamePID: true}}
		v.refine(c.reading, c.report)
		if got := string(v.Status.State) + " " + v.Status.Source + " " + v.Status.Detail; got != c.want {
			t.Errorf("%s: %q; want %q", what, got, c.want)
		}
		if (v.Status.Retry != nil) != (v.Status.State == agent.Retrying) || (v.Status.Age != nil) != (v.Status.Source == agent.FromScreen) {
			t.Errorf("%s: %+v", what, v.Status)
		}
	}
	dead := View{Status: agent.Status{State: agent.Dead, Source: agent.FromProcess}}
	if dead.refine(busy, failed); dead.Status.State != agent.Dead {
		t.Errorf("%+v", dead.Status)
	}
}

// What the hooks said counts for the start that they belong to, until they say goodbye; and
// only where the registry is silent.
func TestHooksTellWhereTheRegistryIsSilent(t *testing.T) {
	t.Parallel()
	opened, err := store.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	self, err := proc.Self()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	r := agent.Record{
		Schema: agent.Schema, Handle: "alpha", SessionID: agent.NewSessionID(), ProjectRoot: opened.Project(), PID: self.PID, ConfigDir: t.TempDir(),
		Process: &agent.Process{Invocation: agent.NewInvocation(), Identity: self}, Started: now.Add(-time.Hour),
	}
	s := &Supervisor{Store: opened, Now: func() time.Time { return now }}
	says := func(invocation agent.Invocation, end *agent.End) {
		t.Helper()
		err := opened.UpdateReport(t.Context(), "alpha", func(report *agent.Report) {
			*report = agent.Report{Invocation: invocation, End: end, Activity: &agent.Activity{State: agent.Busy, Hook: "UserPromptSubmit", At: now.Add(-3 * time.Second)}}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	check := func(what string, state agent.State, source string) {
		t.Helper()
		if got := s.status(&r, nil); got.State != state || got.Source != source {
			t.Errorf("%s: %+v", what, got)
		}
	}
	check("nobody says anything", agent.Unknown, agent.FromProcess)
	says(agent.NewInvocation(), nil)
	check("another start", agent.Unknown, agent.FromProcess)
	says(r.Process.Invocation, &agent.End{Reason: "other"})
	check("it said goodbye", agent.Unknown, agent.FromProcess)
	says(r.Process.Invocation, nil)
	check("the hooks", agent.Busy, agent.FromHooks)
	if age := s.status(&r, nil).Age; age == nil || *age != 3*time.Second {
		t.Errorf("age %v", age)
	}
	register(t, r, "idle", now.Add(-2*time.Second))
	check("the registry", agent.Idle, agent.FromRegistry)
	if age := s.status(&r, nil).Age; age == nil || age.Round(time.Second) != 2*time.Second {
		t.Errorf("age %v", age)
	}
	register(t, r, "", now) // as in the first moments
	check("a registry without a status", agent.Busy, agent.FromHooks)
}

// register writes the registry entry of a record's process.
func register(t *testing.T, r agent.Record, status string, since time.Time) {
	t.Helper()
	dir := r.ConfigDir + "/sessions"
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(fmt.Sprintf("%s/%d.json", dir, r.PID), fmt.Appendf(nil,
		`{"pid":%d,"sessionId":%q,"procStart":"%d","status":%q,"statusUpdatedAt":%d}`, r.PID, r.SessionID, r.Process.StartTicks, status, since.UnixMilli()), 0o600); err != nil {
		t.Fatal(err)
	}
}
