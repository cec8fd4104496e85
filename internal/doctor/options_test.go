package doctor

import (
	"slices"
	"testing"

	"nbs-worker/internal/sim/rig"
)

func TestMissingFlags(t *testing.T) {
	t.Parallel()
	const help = "  --model <model>  ...\n  -r, --resume [value]\n  --session-id <uuid>\n  --settings <file-or-json>\n"
	if got := missingFlags(help + "  --permission-modes <m>\n"); !slices.Equal(got, []string{"--permission-mode"}) {
		t.Errorf("%q", got)
	}
	got := missingFlags(help + "  --permission-mode <m>\n")
	rig.Check(t, len(got) == 0, "%q", got)
}

func TestReadVersion(t *testing.T) {
	t.Parallel()
	for printed, want := range map[string]string{"2.1.329 (Claude Code)\n": "2.1.329", "2.1.329\n": "", "I am a poet": "", "2.1 (Claude Code)": "", "": ""} {
		rig.Equal(t, readVersion(printed), want, "%q", printed)
	}
}
