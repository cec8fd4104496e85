package cli

import (
	"strings"
	"testing"

	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/sim/rig"
)

func TestSeveralSessionsAreApart(t *testing.T) {
	t.Parallel()
	project := newProject(t, uitest.Record("alpha"), uitest.Record("beta"))
	r := run("--root", project, "session", "alpha", "beta").want(t, 0)
	rig.Check(t, strings.Contains(r.out, " resume alpha\n") && strings.Contains(r.out, " resume beta\n"), "no way back:\n%s", r.out)
	rig.Check(t, strings.Count(r.out, "\n\nHandle:") == 1 && strings.HasPrefix(r.out, "Handle:          alpha\n"), "stdout is\n%s", r.out)
	r = run("--root", project, "session", "alpha", "beta", "--json").want(t, 0)
	if strings.Count(r.out, "\n") != 1 || !strings.HasPrefix(r.out, `[{"handle":"alpha",`) || strings.Contains(r.out, "hint") {
		t.Errorf("as JSON, one array:\n%s", r.out)
	}
}
