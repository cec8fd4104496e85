package cli

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func TestListInAPipe(t *testing.T) {
	t.Parallel()
	beta := uitest.Record("beta")
	beta.Model, beta.Cwd = "", "/srv/a b"
	project := newProject(t, uitest.Record("alpha"), beta)
	r := run("--root", project, "list").want(t, 0)
	started := beta.Started.Format("2006-01-02T15:04:05Z")
	want := "alpha\tnever started\t-\trunning\topus\t" + started + "\t-\t-\t-\t" + string(uitest.SessionID) + "\t/srv/project\tdown\t-\n" +
		"beta\tnever started\t-\trunning\t-\t" + started + "\t-\t-\t-\t" + string(uitest.SessionID) + "\t/srv/a b\tdown\t-\n"
	rig.Check(t, r.out == want && r.err == "", "stdout\n%q; want\n%q\nstderr %q", r.out, want, r.err)
}

func TestListOnATerminal(t *testing.T) {
	t.Parallel()
	alpha := uitest.Record("alpha")
	project := newProject(t, alpha)
	r := runOn(ui.Streams{OutTTY: true, ErrTTY: true}, "--root", project, "ls").want(t, 0)
	want := regexp.MustCompile(`^HANDLE +STATE +NEEDS +MODEL +SINCE +CONTEXT +COST +DESIRED\nalpha +never started +down +opus +- +- +- +running\n$`)
	rig.Check(t, want.MatchString(r.out), "stdout is\n%s", r.out)
	r = runOn(ui.Streams{OutTTY: true, ErrTTY: true}, "--root", project, "ls", "--wide").want(t, 0)
	want = regexp.MustCompile(`DESIRED +PID +SESSION +FOLDER\n.* running +- +` + string(uitest.SessionID) + ` +/srv/project\n$`)
	rig.Check(t, want.MatchString(r.out), "with --wide stdout is\n%s", r.out)
}

func TestListOfNobody(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	r := run("--root", project, "list").want(t, 0)
	rig.Check(t, r.out == "" && r.err == "", "in a pipe: %+v", r)
	r = run("--root", project, "list", "--json").want(t, 0)
	rig.Check(t, r.out == "[]\n", "as JSON: %q; want []", r.out)
	runOn(ui.Streams{OutTTY: true, ErrTTY: true}, "--root", project, "list").want(t, 0, "no agents; start one: nbs-worker --root "+project+" spawn HANDLE\n")
}

// unknownBeta is the line of an agent of which nothing could be read.
var unknownBeta = regexp.MustCompile(`beta\tunknown\tthe record cannot be read\t|"handle":"beta","state":"unknown","cause":"the record cannot be read"`)

// One damaged record hides neither the others nor itself.
func TestListWithADamagedRecord(t *testing.T) {
	t.Parallel()
	project := newProject(t, uitest.Record("alpha"), uitest.Record("gamma"))
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
	hostile := uitest.Record("alpha")
	hostile.InitialPrompt, hostile.Cwd = "its first task", "/srv/<&> \u2713 \x1b]0;x\x07"
	project := newProject(t, hostile, uitest.Record("beta"))
	r := run("--root", project, "list", "--json").want(t, 0)
	var rows []map[string]any
	if err := json.Unmarshal([]byte(r.out), &rows); err != nil || len(rows) != 2 {
		t.Fatalf("%v: %s", err, r.out)
	}
	if rows[0]["cwd"] != hostile.Cwd || rows[0]["pid"] != nil || rows[0]["state"] != "never started" || rows[0]["running"] != false {
		t.Errorf("the first is %v", rows[0])
	}
	rig.Check(t, strings.Contains(r.out, `"needs":{"reason":"down","since":null,"seen":false},"what":{"kind":"task","text":"its first task"}`), "the needs are missing in %s", r.out)
	if strings.ContainsRune(r.out, '\x1b') || !strings.Contains(r.out, "<&> \u2713") || strings.Count(r.out, "\n") != 1 {
		t.Errorf("stdout is %q", r.out)
	}
}
