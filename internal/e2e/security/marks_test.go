package security

import (
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// Whoever reaches the tmux server can set its options. A mark alone makes no pane an agent's: the
// one that is ended is led by the recorded launcher.

// forgedPane is a pane of a person's that somebody has given the mark of the agent's start.
func (m *team) forgedPane(invocation string) []string {
	m.Helper()
	pane := strings.TrimSpace(m.Tmux("new-session", "-d", "-s", "forged", "-P", "-F", "#{pane_id} #{pane_pid}", "cat"))
	id, _, _ := strings.Cut(pane, " ")
	m.Tmux("set-option", "-p", "-t", id, "@nbs_pane", invocation)
	m.Tmux("set-option", "-t", "=forged:", "@nbs_invocation", invocation)
	return []string{pane}
}

func TestForgedMarkMakesNoPaneAnAgents(t *testing.T) {
	m := standIn(t)
	m.Remembers("alpha")
	invocation, _ := e2e.Process(m.Record("alpha"))["invocation"].(string)
	forged := m.forgedPane(invocation)
	for _, args := range [][]string{{"resume", "alpha", "--force"}, {"stop", "alpha"}, {"resume", "alpha"}, {"dismiss", "alpha"}} {
		m.OK(args...)
		m.MustStand(strings.Join(args, " "), forged)
	}
}
