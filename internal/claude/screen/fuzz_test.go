package screen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/agent"

	"nbs-worker/internal/sim/rig"
)

// Whatever a screen shows: blank lines change nothing, and once a box or a dialog of
// Claude's stands below it, the answer is that.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(screens, "*", "*.txt"))
	rig.Must(f, err)
	for _, name := range files {
		text, err := os.ReadFile(name)
		rig.Must(f, err)
		f.Add(string(text))
	}
	f.Add("Select login method\n\xff\x1b[0m")
	f.Add("not logged in · run /login")
	rule := strings.Repeat("─", 80)
	box := "\n● OK.\n" + rule + "\n❯ \n" + rule + "\n  ? for shortcuts\n"
	permission := "\n" + rule + "\n Bash command\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel · Tab to amend\n"
	f.Fuzz(func(t *testing.T, screen string) {
		got := Read(screen)
		if (got.Dialog != "") != (got.State == agent.Waiting) || (got.Retry != nil) != (got.State == agent.Retrying) || got.Trouble != "" && got.State != agent.Idle {
			t.Errorf("%+v", got)
		}
		if again := Read(strings.ReplaceAll(screen, "\n", "  \n\n") + "\n \n"); again.answer() != got.answer() {
			t.Errorf("with blank lines it is %s, not %s", again.answer(), got.answer())
		}
		if below := Read(screen + box); below != (Reading{State: agent.Idle}) {
			t.Errorf("above a box it is %s", below.answer())
		}
		if below := Read(screen + permission); below.answer() != "waiting permission" || below.Asked.String() != "Bash command · Do you want to proceed? [Yes / No]" {
			t.Errorf("above a dialog it is %s", below.answer())
		}
	})
}
