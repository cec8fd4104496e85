package life

import (
	"testing"

	"nbs-worker/internal/e2e"
)

// One that was adopted bears no mark: it is its agent by its record.
func TestSecurityAdoptedAgentIsItsRecords(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "wide")
	pid := m.idleByHand("hand", "--model", "sonnet", "--permission-mode", "default", "--allowedTools=Bash")
	m.OK("adopt", "alpha", pidFlag(pid))
	m.MustDenyIn(e2e.Session{TmuxSession: "hand"}, "agent alpha", map[string]string{"nbs-worker dismiss wide": "to dismiss another agent needs"})
}
