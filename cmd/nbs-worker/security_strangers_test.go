package main

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"

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
	m.must(fake.Start())
	m.Cleanup(func() { _ = fake.Process.Kill(); _ = fake.Wait() })
	m.waitFor("the other one runs", func() (bool, string) { return len(claudesOn(session)) > 0, "" })
	return fake.Process.Pid
}

// Whoever may start a process under any name must not keep an agent of ours down by it, and not
// have one ended: what another user runs is nobody's stranger.
func TestAnotherUsersClaudeIsNoStranger(t *testing.T) {
	rig.NeedsRoot(t)
	m := standIn(t)
	before := m.remembers("alpha")
	m.ok("stop", "alpha")
	other := m.claudeOf(rig.Nobody, before.SessionID)

	m.ok("resume", "alpha")
	after := m.session("alpha")
	m.check(after.Running && after.SessionID == before.SessionID, "%+v", after)
	out := m.ok("session", "alpha")
	m.check(!strings.Contains(out, "Other claude") && !strings.Contains(out, "fork"), "%s", out)
	m.ok("resume", "alpha", "--force")
	r := m.nbs("doctor")
	m.check(!strings.Contains(r.stdout, "open in two claudes"), "%v", r)
	m.ok("stop", "alpha")
	m.check(!dead(other), "the other user's process was ended")
	m.ok("dismiss", "alpha")
	m.ok("spawn", "beta", "--session-id", before.SessionID)
	out = m.ok("adopt", "--list")
	m.check(!strings.Contains(out, before.SessionID), "%s", out)
}

// The same from this user is a stranger as before.
func TestThisUsersClaudeIsAStranger(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	m.ok("stop", "alpha")
	m.claudeOf(0, before.SessionID)
	m.refused(5, "another claude has the conversation", "resume", "alpha")
}
