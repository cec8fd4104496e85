package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A pane that was made for an agent is a person's when a person has put something else into it.

// takeOver puts a program of a person into the agent's own pane.
func (m *team) takeOver(s session) (pane string) {
	m.Helper()
	target := "=" + s.TmuxSession + ":"
	if out := m.tmux("respawn-pane", "-k", "-t", target, "cat"); out != "" {
		m.Fatal(out)
	}
	return strings.TrimSpace(m.tmux("display-message", "-p", "-t", target, "#{pane_id} #{pane_pid}"))
}

func TestPaneThatAPersonTookOver(t *testing.T) {
	t.Parallel()
	for _, verbs := range [][]string{{"stop"}, {"resume"}, {"resume", "--force"}, {"dismiss"}} {
		t.Run(fmt.Sprint(verbs), func(t *testing.T) {
			m := standIn(t)
			pane := m.takeOver(m.remembers("alpha"))
			m.waitDeath("alpha")
			m.ok(slices.Insert(slices.Clone(verbs), 1, "alpha")...)
			m.mustStand(strings.Join(verbs, " "), []string{pane})
			m.doctor(0).isWell(m, "team.sessions")
		})
	}
}

// The same of a start whose launcher has not come forward yet.
func TestPaneThatAPersonTookOverDuringAStart(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"stop", "resume", "dismiss"} {
		t.Run(verb, func(t *testing.T) {
			m := standIn(t)
			m.ok("spawn", "alpha")
			s := m.session("alpha")
			pane, launcher := m.takeOver(s), m.launcher("alpha")
			m.waitDead(s.RecordedPID)
			m.waitDead(launcher)
			m.setRecord("alpha", func(fields map[string]any) {
				process := fields["process"].(map[string]any)
				process["pid"], process["launcher"], fields["pid"], fields["exits"] = 0, map[string]any{"pid": 0, "start_ticks": 0}, 0, nil
			})
			m.ok(verb, "alpha")
			m.mustStand(verb, []string{pane})
		})
	}
}
