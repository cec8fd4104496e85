package life

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// A pane that was made for an agent is a person's when a person has put something else into it.

// takeOver puts a program of a person into the agent's own pane.
func (m *team) takeOver(s e2e.Session) (pane string) {
	m.Helper()
	target := "=" + s.TmuxSession + ":"
	if out := m.Tmux("respawn-pane", "-k", "-t", target, "cat"); out != "" {
		m.Fatal(out)
	}
	m.WaitFor("the person's program runs", func() (bool, string) { // till then its process may be a launcher that has not begun
		runs := strings.TrimSpace(m.Tmux("display-message", "-p", "-t", target, "#{pane_current_command}"))
		return runs == "cat", runs
	})
	return strings.TrimSpace(m.Tmux("display-message", "-p", "-t", target, "#{pane_id} #{pane_pid}"))
}

func TestPaneThatAPersonTookOver(t *testing.T) {
	t.Parallel()
	for _, verbs := range [][]string{{"stop"}, {"resume", "--force"}} {
		t.Run(fmt.Sprint(verbs), func(t *testing.T) {
			m := standIn(t)
			pane := m.takeOver(m.Remembers("alpha"))
			m.WaitDeath("alpha")
			m.OK(slices.Insert(slices.Clone(verbs), 1, "alpha")...)
			m.MustStand(strings.Join(verbs, " "), []string{pane})
			m.Doctor(0).IsWell(m.Team, "team.sessions")
		})
	}
}

// The same of a start whose launcher has not come forward yet.
func TestPaneThatAPersonTookOverDuringAStart(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	s := m.Session("alpha")
	pane, launcher := m.takeOver(s), m.Launcher("alpha")
	m.WaitDead(s.RecordedPID)
	m.WaitDead(launcher)
	m.SetRecord("alpha", neverArrived)
	m.OK("stop", "alpha")
	m.MustStand("stop", []string{pane})
}
