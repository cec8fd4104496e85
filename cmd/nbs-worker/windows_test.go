package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// What a person has opened in an agent's session is no business of any verb.

// personPanes are two panes of a person in the agent's session: another window, and a half of
// the agent's own. By id, with the pids of what runs in them.
func (m *team) personPanes(handle string) []string {
	m.Helper()
	target := "=" + m.session(handle).TmuxSession + ":"
	const format = "#{pane_id} #{pane_pid}"
	panes := []string{
		strings.TrimSpace(m.tmux("new-window", "-d", "-P", "-F", format, "-t", target, "cat")),
		strings.TrimSpace(m.tmux("split-window", "-d", "-P", "-F", format, "-t", target, "cat")),
	}
	for _, pane := range panes {
		if !strings.HasPrefix(pane, "%") {
			m.Fatalf("no pane of a person: %s", panes)
		}
	}
	return panes
}

// mustStand checks that panes are still there, and what runs in them.
func (m *team) mustStand(after string, panes []string) {
	m.Helper()
	now := strings.Split(strings.TrimSpace(m.tmux("list-panes", "-a", "-F", "#{pane_id} #{pane_pid}")), "\n")
	for _, pane := range panes {
		m.check(slices.Contains(now, pane), "after %s the pane %s of a person is gone; there are %q", after, pane, now)
	}
}

// The agent's pane, and nothing else, ends with it; its next one goes into the same session.
func TestWindowsOfAPersonSurvive(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	person := m.personPanes("alpha")
	inSession := func(after string) {
		t.Helper()
		m.mustStand(after, person)
		now := m.session("alpha").TmuxSession
		m.check(now == before.TmuxSession, "after %s the agent is in session %s, not in %s", after, now, before.TmuxSession)
		sessions := m.sessionNames()
		m.check(strings.Count(sessions, "\n") == 1, "after %s there are the sessions %s", after, sessions)
	}
	m.ok("stop", "alpha")
	inSession("stop")
	m.mustRemember("alpha", before)
	inSession("resume")
	m.mustRemember("alpha", before, "--force")
	inSession("resume --force")
	m.kill(m.session("alpha").RecordedPID, syscall.SIGKILL)
	m.waitState("alpha", "crashed")
	inSession("a crash")
	m.mustRemember("alpha", before)
	inSession("the resume after a crash")
	m.ok("dismiss", "alpha")
	m.mustStand("dismiss", person)
	panes := strings.Count(m.tmux("list-panes", "-a"), "\n")
	m.check(panes == len(person), "%d panes are left, the person has %d", panes, len(person))
}

// Who is attached to an agent's session stays there when the agent is started anew, and looks
// at it again.
func TestAttachedPersonKeepsTheSession(t *testing.T) {
	m := real(t)
	before := m.remembers("alpha")
	c := m.console(m.command([]string{"attach", "alpha"}))
	c.mustShow("Remember 42.")
	client := strings.TrimSpace(m.tmux("list-clients", "-F", "#{client_pid} #{session_id}"))
	m.mustRemember("alpha", before, "--force")
	now := strings.TrimSpace(m.tmux("list-clients", "-F", "#{client_pid} #{session_id}"))
	m.check(now == client && client != "", "the client was %q and is %q", client, now)
	m.waitFor("it looks at the agent", func() (bool, string) {
		shown := m.tmux("display-message", "-p", "-t", "=nbs-alpha-live:", "#{window_name} #{session_windows}")
		return shown == "alpha 1\n", shown
	})
	c.mustShow("What number?")
}

// A command in another window of the agent's session may end the agent: it does not end with it.
func TestStopFromAnotherWindowOfTheSession(t *testing.T) {
	m := standIn(t)
	m.remembers("alpha")
	m.tmux("new-window", "-d", "-t", "=nbs-alpha-live:", "-c", m.world.Project, m.worker+" stop alpha >stopped 2>&1; cat")
	m.waitFor("it was stopped", func() (bool, string) { return m.session("alpha").State == "stopped", m.readFile("stopped") })
	m.waitFor("the command says so", func() (bool, string) { said := m.readFile("stopped"); return said == "alpha\n", said })
}

// A window of the agent's that a person has moved into a session of their own is still found.
func TestAgentInAWindowThatWasMoved(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	m.tmux("new-session", "-d", "-s", "mine", "cat")
	m.tmux("move-window", "-s", "=nbs-alpha-live:", "-t", "=mine:7")
	s := m.session("alpha")
	m.check(s.State == "idle" && s.TmuxAlive, "%+v", s)
	c := m.console(m.command([]string{"attach", "alpha"}))
	c.mustShow("Remember 42.")
	m.refused(5, "to look at it: nbs-worker attach alpha", "resume", "alpha")
	m.mustRemember("alpha", before, "--force")
	sessions := m.sessionNames()
	m.check(strings.Contains(sessions, "mine\n"), "the session of the person has ended: %s", sessions)
}

// readFile reads a file of the project; one that is not there is empty.
func (m *team) readFile(name string) string {
	out, _ := exec.Command("cat", m.world.Project+"/"+name).Output()
	return string(out)
}

// The window bears the agent's name, whatever the programs in it say, and the status line of
// its session shows it.
func TestWindowIsNamedAfterTheAgent(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	s := m.waitState("alpha", "idle")
	terminal := strings.TrimSpace(m.tmux("display-message", "-p", "-t", "="+s.TmuxSession+":", "#{pane_tty}"))
	m.must(os.WriteFile(terminal, []byte("\x1bkanother\x1b\\"), 0o600))
	m.tmux("run-shell", "-b", "true")
	shown := m.tmux("display-message", "-p", "-t", "="+s.TmuxSession+":", "#{window_name} #{E:status-format[0]}")
	m.check(strings.HasPrefix(shown, "alpha ") && strings.Contains(shown, "0:alpha"), "%q", shown)
}

// The same after a start that was killed before its launcher came forward.
func TestWindowsOfAPersonSurviveAStartThatIsEnded(t *testing.T) {
	m := standIn(t, "start-delay=1h")
	m.refused(3, "not ready", "spawn", "alpha", "--timeout", "500ms")
	person := m.personPanes("alpha")
	m.ok("stop", "alpha")
	m.mustStand("stop", person)
}
