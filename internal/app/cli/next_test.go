package cli

import (
	"strings"
	"testing"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// Of agents without a terminal next says why, one after the other. What it prints for scripts is no look.
func TestNextOfAgentsWithoutATerminal(t *testing.T) {
	t.Parallel()
	project := newProject(t, uitest.Record("alpha"), uitest.Record("beta"))
	next := func(args ...string) ran { return run(append([]string{"--root", project, "next"}, args...)...) }
	rig.Equal(t, next("--print").want(t, 0).out, "alpha\n", "next --print")
	rig.Check(t, strings.HasPrefix(next("--json").want(t, 0).out, `{"handle":"alpha","state":"never started",`), "next --json")
	next().want(t, fail.BadInput, "stdout is not a terminal", "hint: from a script: nbs-worker --root "+project+" next --print")
	for _, handle := range []string{"alpha", "beta", "alpha"} {
		runOn(ui.Streams{InTTY: true, OutTTY: true}, "--root", project, "next").
			want(t, fail.Held, "next "+handle+": the agent does not run: never started", "hint: nbs-worker --root "+project+" resume "+handle+"\n")
	}
	rig.Equal(t, run("--root", project, "status-line").want(t, 0).out, "2 need you: alpha down, beta down\n", "status-line")
}

func TestNextOfNobody(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	for _, flag := range []string{"--print", "--json", "--root=" + project} {
		r := run("--root", project, "next", flag).want(t, fail.NotFound, "nobody needs you")
		rig.Equal(t, r.out, "", "stdout of next %s", flag)
	}
	rig.Equal(t, run("--root", project, "status-line").want(t, 0).out, "", "status-line")
	damage(t, project, "beta")
	rig.Equal(t, run("--root", project, "next", "--print").want(t, 0).out, "beta\n", "next of an agent whose record is damaged")
	run("--root", t.TempDir(), "next").want(t, fail.NotFound, "no .nbs folder")
}

// The line is short, however many need the user.
func TestStatusLineOfMany(t *testing.T) {
	t.Parallel()
	project := newProject(t, uitest.Record("a"), uitest.Record("b"), uitest.Record("c"), uitest.Record("d"), uitest.Record("e"))
	rig.Equal(t, run("--root", project, "status-line").want(t, 0).out, "5 need you: a down, b down, c down, …\n", "status-line")
}
