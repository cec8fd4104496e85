package cli

import (
	"os"
	"path/filepath"
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

// A hint about an option names the page that explains it: the short help only names what is rare.
func TestHintsNameThePageThatExplains(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	rig.Must(t, os.WriteFile(filepath.Join(project, ".nbs/schedules.yaml"), []byte("zone: Nowhere/None\n"), 0o600))
	for _, c := range []struct{ line, page, explains string }{
		{"ask k x --on-lost never", "ask", "--on-lost string"},
		{"ask k x --on-unknown never", "ask", "--on-unknown string"},
		{"ask k x -- --system-prompt y", "ask", "--system-prompt string"},
		{"spawn a -- --session-id y", "spawn", "--session-id string"},
		{"schedule list", "schedule", "permission_mode:"},
	} {
		r := run(append([]string{"--root", project}, strings.Fields(c.line)...)...)
		rig.Check(t, r.code == int(fail.BadInput) && strings.Contains(r.err, "help "+c.page), "%s: %d, %s", c.line, r.code, r.err)
		rig.Check(t, strings.Contains(run("help", c.page).out, c.explains), "help %s does not explain %s", c.page, c.explains)
	}
	rig.Check(t, strings.Contains(run("help", "export").out, "\n\n  srun --jobid ID --overlap --pty nbs-worker compact HANDLE\n\n"), "help export does not have the command on a line")
}

// Without a team file, an agent is started again from its record.
func TestRestartWithoutATeamFile(t *testing.T) {
	t.Parallel()
	project := newProject(t, uitest.Record("alpha"))
	run("--root", project, "restart", "alpha").
		want(t, fail.NotFound, "there is no team file", "hint: to start it again as its record says: nbs-worker --root "+project+" resume alpha --force")
}
