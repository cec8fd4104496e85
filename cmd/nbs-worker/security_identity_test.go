package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A record that claims somebody else's process or tmux server: whoever wrote it, the
// stranger is neither ended nor taken for the agent.

// claim makes a record name a process, with all that identifies it.
func (m *team) claim(handle string, pid int, ticks uint64, launcherToo bool) {
	m.Helper()
	m.setRecord(handle, func(fields map[string]any) {
		forge(fields, pid, ticks)
		if launcherToo {
			process(fields)["launcher"] = map[string]any{"pid": pid, "start_ticks": ticks}
		}
		delete(fields, "exits")
	})
}

// verbsThatEnd may send signals.
var verbsThatEnd = [][]string{{"stop", "alpha"}, {"resume", "alpha", "--force"}, {"dismiss", "alpha"}}

func TestRecordThatClaimsAStrangerEndsNobody(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.ok("stop", "alpha")
	whole := m.recordText("alpha")
	stranger, child := m.sleeper()
	for _, launcherToo := range []bool{false, true} {
		for _, args := range verbsThatEnd {
			m.writeRecord("alpha", whole)
			m.claim("alpha", stranger, m.startTicks(stranger), launcherToo)
			m.refused(5, "does not bear the mark of its start", args...)
			if dead(stranger) || dead(child) {
				t.Fatalf("%q ended the stranger (%t) or its child (%t)", args, dead(stranger), dead(child))
			}
		}
	}
	s := m.session("alpha")
	m.check(len(s.Drift) != 0 && s.Drift[len(s.Drift)-1].Field == "invocation", "session does not say that the process is a stranger: %+v", s)
}

// A pid alone, or with the start of another process, is nobody's name.
func TestRecordThatClaimsAPIDEndsNobody(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.ok("stop", "alpha")
	whole := m.recordText("alpha")
	stranger, child := m.sleeper()
	for _, pid := range []int{os.Getpid(), os.Getppid(), stranger, -1, -stranger, 0, 1 << 30} {
		m.writeRecord("alpha", whole)
		m.claim("alpha", pid, 1, true)
		s := m.session("alpha")
		m.check(s.PID == 0 && !s.Running, "pid %d counts as the agent: %+v", pid, s)
		m.ok("stop", "alpha")
		if dead(stranger) || dead(child) {
			t.Fatalf("stop of pid %d ended a stranger", pid)
		}
	}
	m.writeRecord("alpha", whole)
	m.claim("alpha", 1, 1, true)
	for _, verb := range []string{"session", "stop", "resume", "dismiss"} {
		m.refused(4, "pid 1 is no agent's", verb, "alpha")
	}
}

// A claude that runs in another environment is known by its launcher.
func TestClaudeWithoutItsMarkIsEndedAllTheSame(t *testing.T) {
	m := standIn(t)
	claude := m.variable("NBS_CLAUDE")
	m.env = append(m.env, "NBS_CLAUDE="+m.script(`exec env -u NBS_INVOCATION_ID `+claude+` "$@"`))
	m.ok("spawn", "alpha")
	s := m.session("alpha")
	if _, marked := m.environ(s.RecordedPID)["NBS_INVOCATION_ID"]; marked || len(s.Drift) != 0 {
		t.Fatalf("marked %t, %+v", marked, s)
	}
	m.ok("stop", "alpha")
	m.ok("resume", "alpha")
	m.ok("dismiss", "alpha")
	m.check(dead(s.RecordedPID), "claude was left running")
}

// A record that names another tmux server, on which others work.
func TestRecordThatClaimsAnotherTmuxServer(t *testing.T) {
	m := standIn(t)
	m.ok("--tmux-socket", "first", "spawn", "alpha")
	m.keepServer()
	m.tmux("rename-session", "-t", "=somebody", "nbs-alpha-live")
	path := strings.TrimSpace(m.tmux("display-message", "-p", "#{socket_path}"))
	server := m.serverPID()
	s := m.session("alpha")
	m.setRecord("alpha", func(fields map[string]any) {
		process(fields)["tmux"] = map[string]any{"socket": "default", "path": path, "server_pid": server, "server_start_ticks": m.startTicks(server)}
	})
	for _, args := range [][]string{{"session", "alpha"}, {"list"}, {"stop", "alpha"}, {"resume", "alpha"}, {"dismiss", "alpha"}} {
		m.ok(args...)
	}
	m.check(dead(s.RecordedPID), "the agent itself was left running")
	sessions := m.sessionNames()
	m.check(sessions == "nbs-alpha-live\n" && !dead(server), "sessions left on the other server: %q", sessions)
}

// Text in the place of a socket never becomes a word of tmux.
func TestRecordWithAHostileSocket(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.ok("stop", "alpha")
	whole := m.recordText("alpha")
	for _, socket := range []string{"x; kill-server", "#(touch PWN)", "-x", "../x", "a/b", "$(touch PWN)"} {
		m.writeRecord("alpha", whole)
		m.setRecord("alpha", func(fields map[string]any) { tmuxPlace(fields)["socket"] = socket })
		if strings.Contains(socket, "/") { // a place of its own is sealed
			m.refused(8, "the record is not allowed: changed since it was allowed: process", "resume", "alpha")
			m.allow("alpha")
		}
		m.refused(4, "tmux socket", "resume", "alpha")
		m.setRecord("alpha", func(fields map[string]any) { tmuxPlace(fields)["path"] = socket })
		for _, verb := range []string{"session", "resume", "stop", "dismiss"} {
			m.refused(4, "tmux path", verb, "alpha")
		}
	}
	m.noCanary()
}

// An agent of a copied or moved project works on the project where it is now.
func TestRecordThatClaimsAnotherProject(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.ok("stop", "alpha")
	m.setRecord("alpha", func(fields map[string]any) { fields["project_root"] = m.world.Home })
	m.allow("alpha")
	m.ok("resume", "alpha")
	root := m.environ(m.session("alpha").RecordedPID)["NBS_ROOT"]
	m.check(root == m.world.Project, "NBS_ROOT is %q", root)
	m.check(!exists(filepath.Join(m.world.Home, ".nbs")), "the other project was written to")
	m.kill(m.session("alpha").RecordedPID, syscall.SIGKILL)
	m.waitState("alpha", "crashed")
}
