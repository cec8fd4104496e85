package cli

import (
	"os"
	"strings"
	"testing"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/sim/rig"
)

// On the terminal of a person who is at another machine, hints name this one as that person does.
func TestHintsOfAVisit(t *testing.T) {
	far := newProject(t, uitest.Record("bob"))
	dir := withProjects(t, map[string]string{"build1": far})
	t.Chdir(newProject(t))
	runOn(ui.Streams{InTTY: true, OutTTY: true}, "attach", "bob@build1")
	visits, err := os.ReadFile(dir + "/visits")
	rig.Must(t, err)
	rig.Check(t, strings.Contains(string(visits), "'"+host.AsVariable+"=build1 "+far+"' 'nbs-worker' '--root' '"+far+"' 'attach' 'bob'"), "%s", visits)

	t.Setenv(host.AsVariable, "build1 "+far)
	visit := ui.System()
	visit.In, visit.InTTY, visit.OutTTY = nil, true, true
	rig.Equal(t, os.Getenv(host.AsVariable), "", "what an agent would get")
	visit.Out = nil
	runOn(visit, "--root", far, "attach", "nosuch").want(t, fail.NotFound, "nbs-worker --host build1 list; to start it: nbs-worker --host build1 spawn nosuch\n")
	t.Setenv(host.AsVariable, "--root x")
	rig.Equal(t, ui.System().Host, "", "an invalid one")
}

// What session says of an agent at a host can be pasted here.
func TestSessionOfAHost(t *testing.T) {
	asks := uitest.Record("bob")
	asks.PermissionMode, asks.Memory = "default", true
	withProjects(t, map[string]string{"build1": newProject(t, asks)})
	t.Chdir(t.TempDir())
	r := run("session", "bob@build1").want(t, 0)
	for _, line := range []string{"on: nbs-worker --host build1 requests bob\n", "on: nbs-worker --host build1 memory list --handle bob\n"} {
		rig.Check(t, strings.Contains(r.out, line), "%q is not in:\n%s", line, r.out)
	}
}
