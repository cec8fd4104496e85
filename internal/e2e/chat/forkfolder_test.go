package chat

import (
	"strings"
	"testing"
)

// A copy of an agent's conversation answers in the folder in which the agent is now.
func TestACopyIsInTheFolderOfItsAgent(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--prompt", "Remember 42.")
	m.WaitState("alpha", "idle")
	where := func() string {
		m.Helper()
		return strings.TrimSpace(m.OK("ask", "@alpha", `[[tool Bash {"command":"pwd"}]]`, "--fork", "--", "--allowedTools", "Bash"))
	}
	if got := where(); !strings.HasSuffix(got, m.World.Project) {
		t.Errorf("%q", got)
	}
	other := m.Folder("other")
	m.OK("stop", "alpha")
	m.OK("resume", "alpha", "--cwd", other, "--trust="+other)
	m.WaitState("alpha", "idle")
	if got := where(); !strings.HasSuffix(got, other) {
		t.Errorf("%q is not in %s", got, other)
	}
}
