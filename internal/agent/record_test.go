package agent_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nbs-worker/internal/agent"

	"nbs-worker/internal/sim/rig"
)

func TestAddExitKeepsTheLastTwenty(t *testing.T) {
	t.Parallel()
	var r agent.Record
	for code := range 25 {
		r.AddExit(agent.Exit{Code: code})
		if want := min(code+1, 20); len(r.Exits) != want {
			t.Fatalf("after %d exits %d are kept; want %d", code+1, len(r.Exits), want)
		}
	}
	first, last := r.Exits[0].Code, r.Exits[19].Code
	rig.Check(t, first == 5 && last == 24, "kept are %d to %d; want 5 to 24, oldest first", first, last)
}

func TestExitOfFindsTheInvocation(t *testing.T) {
	t.Parallel()
	r := agent.Record{Exits: []agent.Exit{{Invocation: "a", Code: 1}, {Invocation: "b", Code: 2}, {Invocation: "a", Code: 3}}}
	exit := r.ExitOf("a")
	rig.Check(t, exit != nil && exit.Code == 3, "ExitOf(a) = %v; want the newest, code 3", exit)
	exit = r.ExitOf("b")
	rig.Check(t, exit != nil && exit.Code == 2, "ExitOf(b) = %v; want code 2", exit)
	exit = r.ExitOf("c")
	rig.Check(t, exit == nil, "ExitOf(c) = %v; want none", exit)
	r.ExitOf("b").LastScreen = "bye"
	rig.Check(t, r.Exits[1].LastScreen == "bye", "what ExitOf returns is a copy")
}

func TestReplaceRemembersTheConversation(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 2, 20, 11, 44, 7, 0, time.UTC)
	r := agent.Record{Spec: agent.Spec{SessionID: "old"}, TranscriptSeen: at}
	r.Replace("new", at, "fresh")
	want := agent.Record{
		Spec: agent.Spec{
			SessionID: "new", PreviousSessions: []agent.PreviousSession{{SessionID: "old", Until: at, Reason: "fresh"}},
		},
	}
	diff := cmp.Diff(want, r, cmp.AllowUnexported(agent.Record{}, agent.RestartPolicy{}))
	rig.Check(t, diff == "", "-want +got:\n%s", diff)
}

func TestLaunchDefaults(t *testing.T) {
	t.Parallel()
	r := agent.Record{Spec: agent.Spec{ProjectRoot: "/p"}}
	cwd, mode := r.LaunchCwd(), r.LaunchPermissionMode()
	rig.Check(t, cwd == "/p" && mode == agent.BypassPermissions, "a record of the original tools starts in %s with %s", cwd, mode)
	r.Cwd, r.PermissionMode = "/p/sub", "plan"
	cwd, mode = r.LaunchCwd(), r.LaunchPermissionMode()
	rig.Check(t, cwd == "/p/sub" && mode == "plan", "it starts in %s with %s; want what is recorded", cwd, mode)
}

func TestIdentitiesOfAStartShareItsPlace(t *testing.T) {
	t.Parallel()
	p := agent.Process{
		Identity: agent.Identity{Identified: agent.Identified{PID: 3, StartTicks: 30}, BootID: "b", PIDNS: 4, Host: "h"},
		Launcher: agent.Identified{PID: 2, StartTicks: 20},
		Tmux:     &agent.TmuxPlace{ServerPID: 1, ServerStartTicks: 10},
	}
	want := agent.Identity{Identified: agent.Identified{PID: 2, StartTicks: 20}, BootID: "b", PIDNS: 4, Host: "h"}
	diff := cmp.Diff(want, p.LauncherIdentity())
	rig.Check(t, diff == "", "launcher: -want +got:\n%s", diff)
	want.Identified = agent.Identified{PID: 1, StartTicks: 10}
	diff = cmp.Diff(want, p.ServerIdentity())
	rig.Check(t, diff == "", "server: -want +got:\n%s", diff)
}

func TestSummaries(t *testing.T) {
	t.Parallel()
	for want, exit := range map[string]agent.Exit{
		"code 0":                     {},
		"code 143, as after SIGTERM": {Code: 143},
		"signal: killed":             {Code: -1, Signal: "killed"},
		"not started: no tty":        {Code: 1, Error: "no tty"},
	} {
		rig.Equal(t, exit.Summary(), want, "Summary()")
	}
}

func TestStatusWordAndRunning(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct {
		status  agent.Status
		running bool
	}{
		"idle":                       {agent.Status{State: agent.Idle}, true},
		"starting":                   {agent.Status{State: agent.Starting}, true},
		"waiting":                    {agent.Status{State: agent.Waiting}, true},
		"waiting: permission prompt": {agent.Status{State: agent.Waiting, Detail: "permission prompt"}, true},
		"unknown":                    {agent.Status{State: agent.Unknown, Detail: "another host"}, false},
		"lost: reboot":               {agent.Status{State: agent.Dead, Cause: agent.LostReboot}, false},
		"crashed":                    {agent.Status{State: agent.Dead, Cause: agent.Crashed, Detail: "code 1"}, false},
	} {
		if got := c.status.Word(); got != want || c.status.Running() != c.running {
			t.Errorf("%+v: %q, running %t; want %q, %t", c.status, got, c.status.Running(), want, c.running)
		}
	}
}

// Last screens are most of a record.
func TestAddExitKeepsTheLatestScreens(t *testing.T) {
	t.Parallel()
	var r agent.Record
	for code := range 7 {
		r.AddExit(agent.Exit{Code: code, LastScreen: "bye"})
	}
	for _, exit := range r.Exits {
		kept := exit.LastScreen != ""
		rig.Check(t, kept == (exit.Code >= 2), "screen of exit %d kept: %t", exit.Code, kept)
	}
}

// A plan changes a copy of a record, and may come to nothing.
func TestReplaceLeavesACopyAsItWas(t *testing.T) {
	t.Parallel()
	before := agent.Record{Spec: agent.Spec{SessionID: "c", PreviousSessions: []agent.PreviousSession{{SessionID: "a"}, {SessionID: "b"}}}}
	after := before
	after.Replace("a", time.Time{}, "resumed earlier")
	got := before.PreviousSessions
	rig.Check(t, got[0].SessionID == "a" && got[1].SessionID == "b", "before: %+v", got)
	got = after.PreviousSessions
	rig.Check(t, len(got) == 2 && got[0].SessionID == "b" && got[1].SessionID == "c" && after.SessionID == "a", "after: %s, %+v", after.SessionID, got)
}

// An agent goes on during an upgrade, and its launcher is then of another version.
func TestLaunchersOfOtherVersions(t *testing.T) {
	t.Parallel()
	launcher := agent.Identified{PID: 7}
	for _, test := range []struct {
		process *agent.Process
		want    string
	}{
		{nil, ""}, {&agent.Process{}, ""}, {&agent.Process{Launcher: launcher, Version: "1.2"}, ""},
		{&agent.Process{Launcher: launcher, Version: "1.1"}, "1.1"}, {&agent.Process{Launcher: launcher}, "an earlier version"},
		{&agent.Process{Adopted: &agent.Adoption{}}, ""},
	} {
		rig.Equal(t, test.process.OtherLauncher("1.2"), test.want, "%+v", test.process)
	}
}
