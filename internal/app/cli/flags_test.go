package cli

import (
	"strings"
	"testing"

	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// A model that is probably misspelled is refused before anything is started or changed, wherever it is given.
func TestMisspelledModelIsRefused(t *testing.T) {
	t.Parallel()
	alpha := uitest.Record("alpha")
	alpha.ProjectRoot = t.TempDir()
	project := newProject(t, alpha)
	for _, line := range []string{
		"spawn a --model sonet", "spawn a --model=sonet --dry-run", "resume alpha --model sonet", "set alpha model=sonet", "ask review hello --model sonet", "adopt beta --pid 9 --model sonet",
	} {
		run(append([]string{"--root", project}, strings.Fields(line)...)...).want(t, fail.BadInput, `unknown model "sonet"; did you mean sonnet? To use the name unchanged: exactly:sonet`)
	}
	r := run("--root", project, "spawn", "a", "--dry-run", "--model", "exactly:sonet").want(t, 0)
	rig.Check(t, strings.Contains(r.out, " --model sonet ") && r.err == "", "%+v", r)
}

// A new agent takes a budget as set gives one.
func TestSpawnWithABudget(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	run("--root", project, "spawn", "a", "--dry-run", "--budget", "5").want(t, fail.BadInput, "not an amount of US dollars for an hour, a day or a week")
}
