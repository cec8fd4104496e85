package recover

import (
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// A launcher that is to start its agent again waits for room to say so, however often its record is looked
// at. A full disk is no failure of the agent's, for however long. Meanwhile an agent can be stopped.
func TestAgentThatComesBackAfterAFullDisk(t *testing.T) {
	m := standIn(t)
	rig.PrivateMounts(t).Tmpfs(m.InNbs(), "512k")
	before := m.Remembers("alpha", "--restart", "on-failure")
	m.OK("spawn", "beta", "--restart", "on-failure")
	alpha, beta := m.Launcher("alpha"), m.Launcher("beta")
	free := m.Fill(0)
	m.Kill(m.Session("beta").RecordedPID, syscall.SIGKILL)
	m.Refused(1, "no space left on device", "stop", "beta")
	m.WaitDead(beta)

	m.Kill(before.RecordedPID, syscall.SIGKILL)
	m.WaitSession("alpha", "has ended", func(s e2e.Session) bool { return !s.Running })
	m.Kill(alpha, syscall.SIGCHLD)
	m.MustLive(alpha)
	free()
	m.waitBack(before)
	m.MustSay(strings.Join(m.Journaled("alpha"), "\n"), "exit: signal: killed\n", "failure 1 of 5")
	m.Check(m.restartOf("alpha").Restart.Failures == 1, "%+v", m.restartOf("alpha"))
	m.Check(m.Reply("alpha", "What number?") == "42", "it has forgotten")
}
