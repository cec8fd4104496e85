package security

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// canary is a program that leaves a file when it is run.
func (m *team) canary() (program, trace string) {
	m.Helper()
	trace = filepath.Join(m.T.TempDir(), "ran")
	return m.Script("touch " + trace + "; exit 1"), trace
}

func mustNotHaveRun(t *testing.T, trace string) {
	t.Helper()
	_, err := os.Lstat(trace)
	rig.Check(t, err != nil, "it ran")
}

// The seal is made by the verbs themselves, through all that happens to an agent.
func TestNobodyHasToAllowInTheDailyRound(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	allowed := func(after string) {
		m.Helper()
		out := m.OK("session", "alpha", "--json")
		m.Check(strings.Contains(out, `"allowed":true`), "after %s: %s", after, out)
	}
	allowed("spawn")
	m.Kill(before.RecordedPID, syscall.SIGKILL)
	m.WaitState("alpha", "crashed")
	allowed("a crash")
	m.OK("resume", "alpha", "--model", "haiku")
	allowed("resume with another model")
	m.WaitArrived("alpha")
	m.TypeLine(before, "/clear")
	m.WaitMoved(before, "clear")
	allowed("/clear")
	m.Tmux("kill-server")
	m.WaitDead(m.Session("alpha").RecordedPID)
	m.OK("resume", "--down")
	allowed("a lost server")
	m.OK("resume", "alpha", "--force", "--fresh")
	allowed("--fresh")
	m.OK("stop", "alpha")
	allowed("stop")
	m.OK("resume", "alpha")
}
