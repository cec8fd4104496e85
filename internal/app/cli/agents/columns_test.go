package agents

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
)

// ranAs is the row of a live agent of which the status line has named the model.
func ranAs(handle agent.Handle, recorded, runs agent.Model) inspect.Row {
	row := rowOf(uitest.Record(handle))
	row.Record.Model, row.Record.SessionID = recorded, agent.NewSessionID()
	row.Record.Process = &agent.Process{Invocation: agent.Invocation("i-" + handle)}
	row.Model = runs
	row.Report = agent.Report{Invocation: row.Record.Process.Invocation, SessionID: row.Record.SessionID, Gauge: &agent.Gauge{Model: runs}}
	age := 50 * time.Second
	row.Status = agent.Status{State: agent.Idle, SamePID: true, Age: &age}
	return row
}

// list shows the model that runs, and marks it where the record has another for the next start.
func TestListShowsTheModelThatRuns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ recorded, runs, want string }{
		{"", "claude-opus-5-5", "opus-5-5"},
		{"opus", "claude-opus-5-5", "opus-5-5"},
		{"opus[1m]", "claude-opus-5-5[1m]", "opus-5-5[1m]"},
		{"opuss", "claude-opus-5-5", "opus-5-5, not opuss"},
		{"haiku", "claude-sonnet-5", "sonnet-5, not haiku"},
		{"opusplan", "claude-sonnet-5", "sonnet-5"},
		{"claude-sonnet-5", "claude-sonnet-5-20260101", "sonnet-5-20260101"},
		{"my/model:1", "my/model:1", "my/model:1"},
	} {
		row := ranAs("alpha", agent.Model(c.recorded), agent.Model(c.runs))
		rig.Equal(t, modelCell(&row).Text, c.want, "recorded %s, runs %s", c.recorded, c.runs)
	}
	out := printed(t, ui.Streams{OutTTY: true}, ranAs("alpha", "opus", "claude-opus-5-5"))
	rig.Check(t, regexp.MustCompile(`^HANDLE +STATE +MODEL +SINCE +CONTEXT +COST\nalpha +idle +opus-5-5 +50s +`).MatchString(out), "it is\n%s", out)
	pipe := printed(t, ui.Streams{}, ranAs("alpha", "opus", "claude-opus-5-5"))
	rig.Check(t, strings.HasPrefix(pipe, "alpha\tidle\t-\trunning\topus\t"), "in a pipe: %s", pipe)
}

// Folder and mode are columns where they tell agents apart.
func TestListShowsWhatDiffersInTheTeam(t *testing.T) {
	t.Parallel()
	alpha, beta := ranAs("alpha", "opus", ""), ranAs("beta", "opus", "")
	alpha.Record.Cwd, beta.Record.Cwd = "/srv/api", "/srv/api"
	out := printed(t, ui.Streams{OutTTY: true}, alpha, beta)
	rig.Check(t, !strings.Contains(out, "MODE ") && !strings.Contains(out, "FOLDER"), "nothing differs:\n%s", out)
	beta.Record.Cwd, beta.Record.PermissionMode = "/srv/web", "plan"
	out = printed(t, ui.Streams{OutTTY: true}, alpha, beta)
	rig.Check(t, regexp.MustCompile(`COST +MODE +FOLDER\nalpha .* bypassPermissions +/srv/api\nbeta .* plan +/srv/web\n`).MatchString(out), "both differ:\n%s", out)
	of := placeOf("/srv/shop")
	for cwd, want := range map[string]string{
		"/srv/shop": ".", "/srv/shop/web/x": "web/x", "/opt": "/opt", "/srv/shop.nbs/api": "../shop.nbs/api", "/srv": "..", "/home/ann/api": "/home/ann/api",
	} {
		rig.Equal(t, of(&inspect.Row{Sight: observe.Sight{Record: agent.Record{Spec: agent.Spec{Cwd: cwd}}}}), want, "%s", cwd)
	}
}

// The last column says what each agent does, if that is known of one.
func TestListShowsWhatAgentsDo(t *testing.T) {
	t.Parallel()
	alpha, beta := ranAs("alpha", "opus", ""), ranAs("beta", "opus", "")
	beta.Report.Words = &agent.Words{SessionID: beta.Record.SessionID, Said: "Login fixed; \x1b[31m3 tests added."}
	out := printed(t, ui.Streams{OutTTY: true, Width: 80}, alpha, beta)
	rig.Check(t, strings.Contains(out, "COST  WHAT\n") && strings.Contains(out, "Login fixed; ") && !strings.Contains(out, "\x1b"), "it is\n%s", out)
}

// The worktree of an agent takes no more room than it must: its folder says its usual branch too, and WHAT has a place.
func TestListOfWorktreesInEightyColumns(t *testing.T) {
	t.Parallel()
	api, web := ranAs("api", "opus", "claude-opus-5-5"), ranAs("web", "opus", "claude-opus-5-5")
	place := placeOf("/srv/shop")
	api.Tree, web.Tree = &inspect.Tree{Path: "/srv/shop.nbs/api", Branch: "nbs/api", Changed: new(3)}, &inspect.Tree{Path: "/srv/shop.nbs/web", Branch: "fix"}
	rig.Equal(t, place(&api), "../shop.nbs/api +3", "the usual branch")
	rig.Equal(t, place(&web), "branch fix", "another branch")
	web.Tree.Branch, web.Tree.Gone = "nbs/web", true
	rig.Equal(t, place(&web), "../shop.nbs/web, its worktree is gone", "a lost tree")

	web.Tree.Gone = false
	web.Report.Words = &agent.Words{SessionID: web.Record.SessionID, Said: "The login is mended, and three tests are added to it."}
	out := printed(t, ui.Streams{OutTTY: true, Width: 80}, api, web)
	uitest.MustFit(t, out, "FOLDER", "WHAT\n", "nbs/api +3", "…v/shop.nbs/web", "The login is m")
}

// The state is not cut where the modes differ: what stands beside it is.
func TestListShowsTheWholeState(t *testing.T) {
	t.Parallel()
	alpha, beta := ranAs("alpha", "opus", "claude-opus-5-5"), ranAs("beta", "opus", "claude-opus-5-5")
	alpha.Status = agent.Status{State: agent.Waiting, Detail: "permission prompt", SamePID: true}
	alpha.Record.Cwd, beta.Record.PermissionMode = "/srv/"+strings.Repeat("long/", 9), "plan"
	out := printed(t, ui.Streams{OutTTY: true, Width: 80}, alpha, beta)
	uitest.MustFit(t, out, "waiting: permission prompt", "bypassPermissions")
}
