package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// The results of several places are one JSON value, each under the name of its place.
func TestTheJSONOfSeveralPlaces(t *testing.T) {
	withProjects(t, map[string]string{"build1": newProject(t, uitest.Record("bob")), "down": "/"})
	t.Chdir(newProject(t, uitest.Record("bob")))
	var all wire.AtHosts
	r := run("stop", "bob", "bob@build1", "--json").want(t, 0)
	rig.Must(t, json.Unmarshal([]byte(r.out), &all))
	rig.Check(t, len(all.Hosts) == 2 && all.Hosts[0].Host == "here" && all.Hosts[1].Host == "build1", "%s", r.out)
	for _, one := range all.Hosts {
		rig.Check(t, strings.Contains(string(one.Result), `"bob"`) && one.ExitCode != nil && *one.ExitCode == 0, "%s", r.out)
	}
	r = run("stop", "bob", "bob@down", "--json").want(t, fail.Partial, "down is unreachable")
	rig.Must(t, json.Unmarshal([]byte(r.out), &all))
	rig.Check(t, len(all.Hosts) == 2 && all.Hosts[1].Unreachable, "%s", r.out)
}

// A host without a project has answered: that fails no command for all hosts, unless no place has one.
func TestAHostThatHasNoProjectYet(t *testing.T) {
	withProjects(t, map[string]string{"build1": newProject(t, uitest.Record("bob")), "build2": t.TempDir()})
	t.Chdir(t.TempDir())
	r := run("list", "--hosts").want(t, 0, "build2: list: no .nbs folder")
	rig.Check(t, strings.HasPrefix(r.out, "build1\tbob\t"), "%s", r.out)
	run("list", "--hosts", "--json").want(t, 0)
	run("host", "remove", "build1").want(t, 0)
	run("list", "--hosts").want(t, fail.NotFound, "build2: list: no .nbs folder")
}

// A person reads at each place that there is nothing.
func TestNothingAtAHostIsSaid(t *testing.T) {
	withProjects(t, map[string]string{"build1": newProject(t)})
	t.Chdir(newProject(t))
	r := runOn(ui.Streams{OutTTY: true, ErrTTY: true, Width: 80}, "requests", "--hosts").want(t, 0)
	rig.Equal(t, strings.Count(r.err, "no requests\n"), 2, "%s", r.err)
}

// A space before the @ is a slip, and starts no agent here.
func TestASpaceBeforeTheHost(t *testing.T) {
	withProjects(t, map[string]string{"build1": newProject(t)})
	t.Chdir(newProject(t))
	run("spawn", "alice", "@build1").want(t, fail.BadInput, "@build1\" looks like a host", "hint: to start it there: nbs-worker spawn alice@build1\n")
	run("spawn", "alice", "@PLAN.md", "--dry-run").want(t, 0)
}
