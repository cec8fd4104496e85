package security

import (
	"strings"
	"testing"
)

// An agent runs a page with its own powers, and allows none.
func TestSecurityRunbookOfAnAgent(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "boss", "--model", "sonnet")
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "acceptEdits", "--", "--allowedTools", "Bash")
	page := "# End the boss\n\n```sh {step=end}\nnbs-worker stop boss\n```\n"
	m.WritePage("end", page)
	m.AllowPage("end")
	m.WritePage("other", page)
	onATerminal := `python3 -c 'import pty, sys; sys.exit(pty.spawn(["nbs-worker", "allow", "--runbook", "other"]) >> 8)'`
	said := m.AsAgent("alpha", "nbs-worker runbook run end", "nbs-worker runbook run shutdown --yes", onATerminal)
	for i, want := range [][2]string{
		{"agent alpha called this", "code 8\n"}, {"agent alpha called this", "code 1\n"}, {"only a person may allow; agent alpha called this", "code 8\n"},
	} {
		if !strings.Contains(said[i], want[0]) || !strings.HasSuffix(said[i], want[1]) {
			t.Errorf("%d: %s; want %s", i, said[i], want)
		}
	}
	m.MustBeWell("boss")
	m.Refused(8, "is not allowed", "runbook", "run", "other")
}
