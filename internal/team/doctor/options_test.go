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
