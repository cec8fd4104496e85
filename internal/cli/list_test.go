package cli

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
)

func TestListInAPipe(t *testing.T) {
	t.Parallel()
	beta := record("beta")
	beta.Model, beta.Cwd = "", "/srv/a b"
	project := newProject(t, record("alpha"), beta)
	r := run("--root", project, "list").want(t, 0)
	started := beta.Started.Format("2006-01-02T15:04:05Z")
	want := "alpha\tnever started\trunning\topus\t" + started + "\t-\t" + string(sessionID) + "\t/srv/project\t-\t-\n" +
		"beta\tnever started\trunning\t-\t" + started + "\t-\t" + string(sessionID) + "\t/srv/a b\t-\t-\n"
	if r.out != want || r.err != "" {
		t.Errorf("stdout\n%q; want\n%q\nstderr %q", r.out, want, r.err)
	}
}

func TestListOnATerminal(t *testing.T) {
	t.Parallel()
	project := newProject(t, record("alpha"))
	r := runOn(Streams{OutTTY: true, ErrTTY: true}, "--root", project, "ls").want(t, 0)
	want := regexp.MustCompile(`^HANDLE +STATE +WISH +MODEL +STARTED +PID +SESSION +FOLDER +CONTEXT +COST\nalpha +never started +running +opus +3 hours ago +- +` + string(sessionID) + ` +/srv/project +- +-\n$`)
	if !want.MatchString(r.out) {
		t.Errorf("stdout is\n%s", r.out)
	}
}

func TestListOfNobody(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	if r := run("--root", project, "list").want(t, 0); r.out != "" || r.err != "" {
		t.Errorf("in a pipe: %+v", r)
	}
	if r := run("--root", project, "list", "--json").want(t, 0); r.out != "[]\n" {
		t.Errorf("as JSON: %q; want []", r.out)
	}
	runOn(Streams{OutTTY: true, ErrTTY: true}, "--root", project, "list").want(t, 0, "no agents; start one: nbs-worker --root "+project+" spawn HANDLE\n")
}

// unknownBeta is the line of an agent of which nothing could be read.
var unknownBeta = regexp.MustCompile(`beta\tunknown\t-|"handle":"beta","state":"unknown","detail":"the record cannot be read","running":false,"desired":""`)

// One damaged record hides neither the others nor itself.
func TestListWithADamagedRecord(t *testing.T) {
	t.Parallel()
	project := newProject(t, record("alpha"), record("gamma"))
	damage(t, project, "beta")
	for _, flags := range [][]string{nil, {"--json"}} {
		r := run(append([]string{"--root", project, "list"}, flags...)...).want(t, agent.Partial, "list beta: the record", "is damaged", "hint: keep the file")
		if !strings.Contains(r.out, "alpha") || !strings.Contains(r.out, "gamma") || !unknownBeta.MatchString(r.out) {
			t.Errorf("stdout is %s", r.out)
		}
	}
	only := newProject(t)
	damage(t, only, "beta")
	run("--root", only, "list").want(t, agent.BadInput, "list beta")
}

// The original tools recorded no wish, and kept records of agents that should run.
func TestListOfALegacyRecordAsJSON(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	legacy := record("alpha")
	legacy.Desired, legacy.Cwd = "", ""
	s := newListJSON(rowOf(legacy), agent.DefaultBands)
	if s.Desired != agent.DesiredRunning || s.Cwd != "/srv/project" || s.PID != nil || s.Running {
		t.Errorf("it is %+v", s)
	}
	r := run("--root", project, "session", "alpha").want(t, agent.NotFound)
	if r.out != "" {
		t.Errorf("stdout is %q", r.out)
	}
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
	if rows[0]["cwd"] != hostile.Cwd || rows[0]["pid"] != nil || rows[0]["state"] != "dead" || rows[0]["cause"] != "never started" {
		t.Errorf("the first is %v", rows[0])
	}
	if strings.Contains(r.out, "not shown") || strings.ContainsRune(r.out, '\x1b') || !strings.Contains(r.out, "<&> \u2713") || strings.Count(r.out, "\n") != 1 {
		t.Errorf("stdout is %q", r.out)
	}
}
