package cli

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/inspect"

	"nbs-worker/internal/sim/rig"
)

func TestListInAPipe(t *testing.T) {
	t.Parallel()
	beta := record("beta")
	beta.Model, beta.Cwd = "", "/srv/a b"
	project := newProject(t, record("alpha"), beta)
	r := run("--root", project, "list").want(t, 0)
	started := beta.Started.Format("2006-01-02T15:04:05Z")
	want := "alpha\tnever started\t-\trunning\topus\t" + started + "\t-\t-\t-\t" + string(sessionID) + "\t/srv/project\n" +
		"beta\tnever started\t-\trunning\t-\t" + started + "\t-\t-\t-\t" + string(sessionID) + "\t/srv/a b\n"
	rig.Check(t, r.out == want && r.err == "", "stdout\n%q; want\n%q\nstderr %q", r.out, want, r.err)
}

func TestListOnATerminal(t *testing.T) {
	t.Parallel()
	alpha := record("alpha")
	project := newProject(t, alpha)
	r := runOn(Streams{OutTTY: true, ErrTTY: true}, "--root", project, "ls").want(t, 0)
	want := regexp.MustCompile(`^HANDLE +STATE +MODEL +SINCE +CONTEXT +COST +DESIRED\nalpha +never started +opus +- +- +- +running\n$`)
	rig.Check(t, want.MatchString(r.out), "stdout is\n%s", r.out)
	r = runOn(Streams{OutTTY: true, ErrTTY: true}, "--root", project, "ls", "--wide").want(t, 0)
	want = regexp.MustCompile(`DESIRED +PID +SESSION +FOLDER\n.* running +- +` + string(sessionID) + ` +/srv/project\n$`)
	rig.Check(t, want.MatchString(r.out), "with --wide stdout is\n%s", r.out)
}

// What needs a person comes first, what was ended last.
func TestListBeginsWithWhatIsUrgent(t *testing.T) {
	t.Parallel()
	of := func(handle agent.Handle, desired agent.Desired, status agent.Status) inspect.Row {
		row := rowOf(record(handle))
		row.Record.Desired, row.Status, row.Record.SessionID = desired, status, agent.NewSessionID()
		return row
	}
	out := printed(t, Streams{OutTTY: true},
		of("a", agent.DesiredStopped, agent.Status{State: agent.Dead, Cause: agent.Stopped}),
		of("b", agent.DesiredRunning, agent.Status{State: agent.Idle, SamePID: true}),
		of("c", agent.DesiredRunning, agent.Status{State: agent.Busy, SamePID: true}),
		of("d", agent.DesiredRunning, agent.Status{State: agent.Waiting, Detail: "permission prompt", SamePID: true}),
		of("e", agent.DesiredRunning, agent.Status{State: agent.Dead, Cause: agent.Crashed}))
	var order strings.Builder
	for line := range strings.Lines(out) {
		order.WriteString(line[:1])
	}
	rig.Check(t, order.String() == "Hdecba" && strings.Contains(out, "waiting: permission prompt"), "it is\n%s", out)
}

// A row fits the terminal; DESIRED is there only when somebody is not as they should be.
func TestListFitsTheTerminal(t *testing.T) {
	t.Parallel()
	const width = 60
	row := rowOf(record("an-agent-with-a-name-that-is-long"))
	row.Status = agent.Status{State: agent.Waiting, Detail: "a question that somebody has asked at some length", SamePID: true}
	out := printed(t, Streams{OutTTY: true, Width: width}, row)
	for line := range strings.Lines(out) {
		n := len([]rune(strings.TrimRight(line, "\n")))
		rig.Check(t, n <= width, "a line has %d columns of %d:\n%s", n, width, out)
	}
	rig.Check(t, !strings.Contains(out, "DESIRED") && strings.Contains(out, "…"), "it is\n%s", out)
}

// Two agents in one conversation fork it.
func TestListMarksASharedConversation(t *testing.T) {
	t.Parallel()
	alpha, beta := rowOf(record("alpha")), rowOf(record("beta"))
	out := printed(t, Streams{OutTTY: true}, alpha, beta)
	rig.Check(t, strings.Contains(out, "in the conversation of beta") && strings.Contains(out, "in the conversation of alpha"), "it is\n%s", out)
}

func TestListOfNobody(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	r := run("--root", project, "list").want(t, 0)
	rig.Check(t, r.out == "" && r.err == "", "in a pipe: %+v", r)
	r = run("--root", project, "list", "--json").want(t, 0)
	rig.Check(t, r.out == "[]\n", "as JSON: %q; want []", r.out)
	runOn(Streams{OutTTY: true, ErrTTY: true}, "--root", project, "list").want(t, 0, "no agents; start one: nbs-worker --root "+project+" spawn HANDLE\n")
}

// unknownBeta is the line of an agent of which nothing could be read.
var unknownBeta = regexp.MustCompile(`beta\tunknown\tthe record cannot be read\t|"handle":"beta","state":"unknown","cause":"the record cannot be read"`)

// One damaged record hides neither the others nor itself.
func TestListWithADamagedRecord(t *testing.T) {
	t.Parallel()
	project := newProject(t, record("alpha"), record("gamma"))
	damage(t, project, "beta")
	for _, flags := range [][]string{nil, {"--json"}} {
		r := run(append([]string{"--root", project, "list"}, flags...)...).want(t, fail.Partial, "beta", "the record", "is damaged", "move the file aside")
		rig.Check(t, strings.Contains(r.out, "alpha") && strings.Contains(r.out, "gamma") && unknownBeta.MatchString(r.out), "stdout is %s", r.out)
	}
	only := newProject(t)
	damage(t, only, "beta")
	run("--root", only, "list").want(t, fail.BadInput, "list beta")
}

func TestListAsJSONIsOneArray(t *testing.T) {
	t.Parallel()
	hostile := record("alpha")
	hostile.InitialPrompt, hostile.Cwd = "not shown", "/srv/<&> \u2713 \x1b]0;x\x07"
	project := newProject(t, hostile, record("beta"))
	r := run("--root", project, "list", "--json").want(t, 0)
	var rows []map[string]any
	if err := json.Unmarshal([]byte(r.out), &rows); err != nil || len(rows) != 2 {
		t.Fatalf("%v: %s", err, r.out)
	}
	if rows[0]["cwd"] != hostile.Cwd || rows[0]["pid"] != nil || rows[0]["state"] != "never started" || rows[0]["running"] != false {
		t.Errorf("the first is %v", rows[0])
	}
	if strings.Contains(r.out, "not shown") || strings.ContainsRune(r.out, '\x1b') || !strings.Contains(r.out, "<&> \u2713") || strings.Count(r.out, "\n") != 1 {
		t.Errorf("stdout is %q", r.out)
	}
}
