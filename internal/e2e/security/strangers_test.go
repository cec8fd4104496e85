package security

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// claudeOf runs what looks like a claude on a conversation, as another user of the machine.
func (m *team) claudeOf(uid uint32, session string) (pid int) {
	m.Helper()
	fake := exec.Command("/bin/sh")
	fake.Args = []string{"claude", "-c", "read line", "--resume", session}
	fake.Dir, fake.SysProcAttr = "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	if _, err := fake.StdinPipe(); err != nil {
		m.Fatal(err)
	}
	m.Must(fake.Start())
	m.Cleanup(func() { _ = fake.Process.Kill(); _ = fake.Wait() })
	m.WaitFor("the other one runs", func() (bool, string) { return len(e2e.ClaudesOn(session)) > 0, "" })
	return fake.Process.Pid
}

// Whoever may start a process under any name must not keep an agent of ours down by it, and not
// have one ended: what another user runs is nobody's stranger.
func TestAnotherUsersClaudeIsNoStranger(t *testing.T) {
	rig.NeedsRoot(t)
	m := standIn(t)
	before := m.Remembers("alpha")
	m.OK("stop", "alpha")
	other := m.claudeOf(rig.Nobody, before.SessionID)

	m.OK("resume", "alpha")
	after := m.Session("alpha")
	m.Check(after.Running && after.SessionID == before.SessionID, "%+v", after)
	out := m.OK("session", "alpha")
	m.Check(!strings.Contains(out, "Other claude") && !strings.Contains(out, "fork"), "%s", out)
	m.OK("resume", "alpha", "--force")
	m.Doctor(e2e.AnyCode).IsWell(m.Team, "team.health")
	m.OK("stop", "alpha")
	m.Check(!e2e.Dead(other), "the other user's process was ended")
	m.OK("dismiss", "alpha")
	m.OK("spawn", "beta", "--session-id", before.SessionID)
	out = m.OK("adopt", "--list")
	m.Check(!strings.Contains(out, before.SessionID), "%s", out)
}

// The same from this user is a stranger as before.
func TestThisUsersClaudeIsAStranger(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.OK("stop", "alpha")
	m.claudeOf(0, before.SessionID)
	m.Refused(5, "another claude has the conversation", "resume", "alpha")
}
