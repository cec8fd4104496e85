package agent

import (
	"testing"

	"nbs-worker/internal/sim/rig"
)

func TestModesByWhatTheyLetClaudeDo(t *testing.T) {
	t.Parallel()
	order := []PermissionMode{"plan", "dontAsk", "default", "acceptEdits", "auto", BypassPermissions}
	for i, mode := range order {
		for j, other := range order {
			if mode.Within(other) != (i <= j) {
				t.Errorf("%s within %s: %t", mode, other, mode.Within(other))
			}
		}
	}
	rig.Check(t, PermissionMode("manual").Within("default") && PermissionMode("default").Within("manual"), "manual is another name of default")
	if PermissionMode("newest").Within(BypassPermissions) || PermissionMode("plan").Within("newest") {
		t.Error("a mode that is not known is within one, or has one within it")
	}
	for _, mode := range PermissionModes {
		rig.Check(t, mode.Within(BypassPermissions), "%s has no place in the order", mode)
	}
}
