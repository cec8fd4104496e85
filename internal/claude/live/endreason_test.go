package live

import (
	"strings"
	"testing"

	"nbs-worker/internal/agent"

	"nbs-worker/internal/sim/rig"
)

func TestEndReasons(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"prompt_input_exit": "prompt_input_exit", "other": "other", "": "",
		"clear": "", "resume": "", "\x1b[2J": "", strings.Repeat("a", 65): "",
	} {
		rig.Equal(t, EndReason(&agent.End{Reason: said}), want, "%q", said)
	}
	rig.Check(t, EndReason(nil) == "", "nothing was said")
}
