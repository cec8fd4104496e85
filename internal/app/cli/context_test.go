package cli

import (
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func TestContextBandsOfTheEnvironment(t *testing.T) {
	project := newProject(t, uitest.Record("alpha"))
	t.Setenv("NBS_CONTEXT_BANDS", "50,30,20")
	bands, err := ui.ContextBands()
	rig.Check(t, err == nil && bands.Of(40) == agent.Low, "%+v, %v", bands, err)
	t.Setenv("NBS_CONTEXT_BANDS", "10,15,25")
	for _, verb := range [][]string{{"list"}, {"session", "alpha"}} {
		r := run(append([]string{"--root", project}, verb...)...).want(t, fail.BadInput, verb[0]+": NBS_CONTEXT_BANDS: context bands", "hint: the default: 25,15,10")
		rig.Check(t, r.out == "", "stdout %q", r.out)
	}
}
