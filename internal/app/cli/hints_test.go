package cli

import (
	"strings"
	"testing"

	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// NBS_ROOT is still there when the hint is pasted.
func TestHintsDoNotRepeatTheEnvironment(t *testing.T) {
	t.Setenv("NBS_ROOT", newProject(t, uitest.Record("alpha")))
	run("session", "beta").want(t, fail.NotFound, "hint: to see the agents: nbs-worker list; to start it: nbs-worker spawn beta\n")
}

func TestAdviceActsOnTheProjectThatWasShown(t *testing.T) {
	t.Parallel()
	project := newProject(t, uitest.Record("alpha"))
	back := "nbs-worker --root " + project + " resume alpha"
	r := run("session", "alpha", "--root", project).want(t, 0)
	rig.Check(t, strings.Contains(r.out, ": "+back+"\n"), "stdout is\n%s", r.out)
	r = run("session", "alpha", "--root", project, "--json").want(t, 0)
	rig.Check(t, strings.Contains(r.out, `"advice":["`+back+`"]`), "stdout is\n%s", r.out)
}
