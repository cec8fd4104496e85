package life

import (
	"os/exec"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// A running agent goes on in its conversation under its new handle, with all that was kept under the old one.
func TestRename(t *testing.T) {
	m := eachVersion(t)
	before := m.Remembers("alpha")
	m.OK("memory", "add", "alpha", "It likes cats")
	m.Refused(2, "no such agent", "rename", "gamma", "beta")
	rig.Equal(m, m.OK("rename", "alpha", "beta"), "beta\n", "it prints")
	m.Check(m.NBS("session", "alpha").Code == 2, "alpha is still there")
	m.MustRemember("beta", before, "--force")
	rig.Equal(m, strings.TrimSpace(m.SessionNames()), "nbs-beta-live", "tmux's sessions")
	m.MustSay(m.OK("memory", "list", "--handle", "beta"), "cats")
	m.Check(m.Environ(m.Session("beta").RecordedPID)["NBS_HANDLE"] == "beta", "its processes have the old handle")
	m.OK("stop", "beta")
	m.MustSay(m.OK("rename", "beta", "gamma", "--json"), `"from":"beta"`, `"handle":"gamma"`)
	m.Check(!m.Session("gamma").Running, "a stopped agent was started")
	m.MustRemember("gamma", before)
}

// A rename is killed before each system call by which a file comes or goes, and the same command completes it.
func TestKilledRenameIsCompletedByTheSameCommand(t *testing.T) {
	m := standIn(t)
	before := m.StoppedAlpha()
	m.OK("memory", "add", "alpha", "It likes cats")
	shown := 0
	points := rig.EachKill(m, []string{"renameat", "unlinkat"}, func() (*exec.Cmd, func(bool)) {
		return m.Command([]string{"rename", "alpha", "beta"}), func(bool) {
			if r := m.NBS("session", "alpha"); r.Code == 0 && strings.Contains(r.Stdout, "being renamed") {
				shown++
				m.MustSay(m.OK("list"), "nbs-worker rename alpha beta")
				m.MustSay(m.NBS("doctor", "--json").Stdout, "the rename of alpha to beta was not completed")
			}
			m.OK("rename", "alpha", "beta")
			m.Check(m.NBS("session", "alpha").Code == 2, "alpha is still there")
			m.Check(m.Session("beta").SessionID == before.SessionID, "beta has another conversation")
			m.MustSay(m.OK("memory", "list", "--handle", "beta"), "cats")
			m.OK("rename", "beta", "alpha")
		}
	})
	m.Check(points >= 5 && (shown > 0 || !rig.EveryKill()), "it can be killed at %d points only, and was half renamed %d times", points, shown)
	m.MustRemember("alpha", before)
}

// The same, of an agent that runs: it runs again, once, in its conversation.
func TestKilledRenameOfARunningAgent(t *testing.T) {
	m := standIn(t)
	m.KeepServer() // a server that the traced command started would be traced too
	before := m.Remembers("alpha")
	points := rig.EachKill(m, []string{"renameat"}, func() (*exec.Cmd, func(bool)) {
		m.WaitState("alpha", "idle")
		return m.Command([]string{"rename", "alpha", "beta"}), func(bool) {
			m.OK("rename", "alpha", "beta")
			m.Check(m.NBS("session", "alpha").Code == 2, "alpha is still there")
			beta := m.WaitState("beta", "idle")
			m.Check(beta.SessionID == before.SessionID, "beta has another conversation")
			m.Check(strings.Count(m.SessionNames(), "-live") == 1, "tmux has %s", m.SessionNames())
			m.OK("rename", "beta", "alpha")
		}
	})
	m.Check(points >= 5, "it can be killed at %d points only", points)
	m.WaitState("alpha", "idle")
	m.MustRemember("alpha", before, "--force")
}
