package recover

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
)

// Launchers that are killed while they start their agent again.

// restartSteps are the steps of a restart that can be seen on disk: whether it has come so far, of an
// agent whose last start was that of before.
var restartSteps = map[string]func(m *team, before e2e.Session, first string) bool{
	"the start is written": func(m *team, _ e2e.Session, first string) bool { return m.startOf("alpha") != first },
	"it has the lease": func(m *team, before e2e.Session, first string) bool {
		return m.startOf("alpha") != first && m.LeaseHolder(before.SessionID) != ""
	},
	"claude was started": func(m *team, _ e2e.Session, first string) bool {
		return m.startOf("alpha") != first && m.pidOf("alpha") > 0
	},
}

func (m *team) startOf(handle string) string {
	return e2e.Process(m.Record(handle))["invocation"].(string)
}

func (m *team) pidOf(handle string) int { return int(m.Record(handle)["pid"].(float64)) }

// A launcher that is killed at any step of a restart takes its claude with it, or leaves none. The
// agent is brought back, alone and in its conversation.
func TestLauncherKilledAtEachStepOfARestart(t *testing.T) {
	for step, reached := range restartSteps {
		t.Run(step, func(t *testing.T) {
			m := standIn(t)
			before := m.Remembers("alpha", "--restart", "on-failure")
			first, launcher := m.startOf("alpha"), m.Launcher("alpha")
			m.Kill(before.RecordedPID, syscall.SIGKILL)
			for deadline := time.Now().Add(time.Minute); !reached(m, before, first); {
				if time.Now().After(deadline) {
					t.Fatalf("it was never reached: %s", m.Journal())
				}
			}
			m.Kill(launcher, syscall.SIGKILL)
			m.WaitDeath("alpha")
			m.MustRemember("alpha", before)
			m.Check(len(m.onConversation(before.SessionID)) == 1, "claudes on the conversation: %v", m.onConversation(before.SessionID))
			m.OK("stop", "alpha")
			m.Check(len(m.onConversation(before.SessionID)) == 0, "claudes on the conversation: %v", m.onConversation(before.SessionID))
		})
	}
}

// onConversation are the claudes that run on a conversation, by their command lines.
func (m *team) onConversation(id string) (pids []int) {
	for _, pid := range e2e.AllPIDs() {
		text, _ := os.ReadFile(e2e.ProcFile(pid, "cmdline")) // "" of one that has gone
		words := strings.Split(string(text), "\x00")
		if !e2e.Dead(pid) && slices.Contains(words, id) && slices.Contains(words, "--settings") {
			pids = append(pids, pid)
		}
	}
	return pids
}
