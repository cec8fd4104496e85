package main

import (
	"strings"
	"syscall"
	"testing"
)

// stop and dismiss: all that is ours goes, and nothing else.

func TestStopEndsWhatToolsLeftBehind(t *testing.T) {
	m := standIn(t, "spawn-child")
	m.ok("spawn", "alpha")
	orphans := m.carrying("alpha")
	if len(orphans) < 2 {
		t.Fatalf("no child of the agent: %v", orphans)
	}
	// Killed like this, claude leaves its tool's shell to pid 1.
	m.kill(m.session("alpha").RecordedPID, syscall.SIGKILL)
	m.waitState("alpha", "crashed")
	m.ok("stop", "alpha")
	for _, pid := range orphans {
		m.check(dead(pid), "process %d of the agent lives", pid)
	}
}

// An agent that stops itself would end the command half done.
func TestAgentDoesNotStopItself(t *testing.T) {
	m := real(t)
	m.ok("spawn", "alpha", "--model", "sonnet", "--prompt", `[[tool Bash {"command":"nbs-worker stop alpha; echo code $?"}]]`)
	m.mustAnswer("alpha", "Tool said:")
	s := m.session("alpha")
	m.check(s.Running && s.Desired == "running", "%+v", s)
	screen := m.screen("alpha")
	m.check(strings.Contains(screen, "code 5"), "%s", screen)
}

// An agent may start colleagues: they outlive it, and so does the tmux server.
func TestAgentSpawnsAColleague(t *testing.T) {
	m := real(t)
	m.ok("spawn", "boss", "--model", "sonnet", "--prompt", `[[tool Bash {"command":"nbs-worker spawn colleague --model sonnet --prompt 'Remember 42.'"}]]`)
	m.mustAnswer("boss", "Tool said: colleague")
	m.mustAnswer("colleague", "OK, I will remember 42.")
	before := m.session("colleague")
	m.ok("dismiss", "boss")
	after := m.session("colleague")
	if !after.Running || after.RecordedPID != before.RecordedPID {
		t.Fatalf("the colleague went with its boss: %+v", after)
	}
	m.kill(after.RecordedPID, syscall.SIGKILL)
	m.waitState("colleague", "crashed")
	m.mustRemember("colleague", before)
}

// A tmux server that an agent's shell has started hands the agent's mark on to all
// that is started in it.
func TestServerStartedByAnAgentOutlivesIt(t *testing.T) {
	m := standIn(t)
	m.bossWithServer()
	m.ok("spawn", "colleague")
	before, server := m.session("colleague"), m.serverPID()
	m.ok("dismiss", "boss")
	after := m.session("colleague")
	m.check(after.Running && after.RecordedPID == before.RecordedPID && !dead(server), "before %+v\nafter %+v", before, after)
}

// bossWithServer is an agent whose shell has started the user's tmux server, with a
// session of somebody in it; the agent itself lives in another server.
func (m *team) bossWithServer() {
	m.Helper()
	m.ok("--tmux-socket", "first", "spawn", "boss")
	boss := m.environ(m.session("boss").RecordedPID)
	m.env = append(m.env, "NBS_INVOCATION_ID="+boss["NBS_INVOCATION_ID"])
	m.tmux("new-session", "-d", "-s", "somebody", "cat; cat")
}
