package local

import (
	"os/exec"
	"slices"
	"testing"

	"nbs-worker/internal/sim/rig"
)

func TestVariableIsReadByItsWholeName(t *testing.T) {
	t.Parallel()
	c := startReady(t, "stay", func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, "XNBS_A=prefixed", "NBS_AB=longer", "NBS_A=a=b\nc", "NBS_EMPTY=")
	})
	for name, want := range map[string]string{"NBS_A": "a=b\nc", "NBS_EMPTY": ""} {
		got, there := here.Variable(c.id.PID, name)
		rig.Check(t, got == want && there, "Variable(%s) = %q, %t; want %q", name, got, there, want)
	}
	for _, name := range []string{"NBS_ABC", "NBS_", "nbs_a", "a"} {
		got, there := here.Variable(c.id.PID, name)
		rig.Check(t, !there, "Variable(%s) = %q; want none", name, got)
	}
	found, err := here.Carrying("NBS_A", "a")
	rig.Check(t, err == nil && !slices.Contains(pidsOf(found), c.id.PID), "Carrying takes the beginning of a value for the value: %v, %v", found, err)
}
