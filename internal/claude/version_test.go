package claude

import (
	"testing"

	"nbs-worker/internal/sim/rig"
)

func TestReadVersion(t *testing.T) {
	t.Parallel()
	for printed, want := range map[string]string{"2.1.329 (Claude Code)\n": "2.1.329", "2.1.329\n": "", "I am a poet": "", "2.1 (Claude Code)": "", "": ""} {
		rig.Equal(t, ReadVersion(printed), want, "%q", printed)
	}
}
