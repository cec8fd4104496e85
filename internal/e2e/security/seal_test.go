package security

import (
	"strings"
	"syscall"
	"testing"
)

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
