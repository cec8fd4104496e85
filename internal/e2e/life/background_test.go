package life

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/e2e"
	"nbs-worker/internal/platform/machine/local"
)

// The daemon that Claude keeps for sessions in the background has the mark of the agent that needed
// it first. It, and a person's sessions in it, stay when the agent ends.
func TestBackgroundOfClaudeIsNobodysLeftover(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	mark := m.Environ(m.Session("alpha").RecordedPID)[agent.InvocationVariable]
	var background []int
	m.WaitFor("a session in the background shows its screen", func() (ready bool, roster string) {
		var lives bool
		if background, lives, roster = m.background(); !lives { // Claude gives up one that does not come up in time
			m.AsAgent("alpha", m.Variable("NBS_CLAUDE")+" --bg 'Remember 7.'")
		}
		return len(background) > 2, roster
	})
	for _, pid := range background {
		if m.Environ(pid)[agent.InvocationVariable] != mark {
			t.Errorf("process %d has not the mark of the agent: this proves nothing", pid)
		}
	}
	for _, args := range [][]string{{"stop", "alpha"}, {"dismiss", "alpha"}} {
		m.OK(args...)
		for _, pid := range background {
			if e2e.Dead(pid) {
				t.Fatalf("%q ended process %d of %v", args, pid, background)
			}
		}
	}
}

// background are Claude's daemon, the terminal of a session that it holds, and what runs in it: nothing
// before the session shows its screen. The daemon's spare terminals are not among them: it replaces
// them, and terminals that do not come up, as it likes. lives tells whether it holds a session at all.
func (m *team) background() (pids []int, lives bool, roster string) {
	m.Helper()
	text, err := os.ReadFile(filepath.Join(m.World.ConfigDir, "daemon", "roster.json"))
	if err != nil {
		return nil, false, err.Error()
	}
	var daemon struct {
		PID     int `json:"supervisorPid"`
		Workers map[string]struct {
			PID   int   `json:"pid"`
			Modes []int `json:"decModes"` // which the program in the terminal has set
		} `json:"workers"`
	}
	if err := json.Unmarshal(text, &daemon); err != nil {
		return nil, true, fmt.Sprintf("%v: %s", err, text)
	}
	for _, session := range daemon.Workers {
		if e2e.Dead(session.PID) {
			continue
		}
		lives = true
		if len(session.Modes) > 0 {
			pids = append(pids, daemon.PID, session.PID)
			below, err := local.New().Descendants(session.PID)
			m.Must(err)
			for _, id := range below {
				pids = append(pids, id.PID)
			}
		}
	}
	return pids, lives, string(text)
}
