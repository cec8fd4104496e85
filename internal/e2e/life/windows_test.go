package life

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// What a person has opened in an agent's session is no business of any verb.

// personPanes are two panes of a person in the agent's session: another window, and a half of
// the agent's own. By id, with the pids of what runs in them.
func (m *team) personPanes(handle string) []string {
	m.Helper()
	target := "=" + m.Session(handle).TmuxSession + ":"
	const format = "#{pane_id} #{pane_pid}"
	panes := []string{
		strings.TrimSpace(m.Tmux("new-window", "-d", "-P", "-F", format, "-t", target, "cat")),
		strings.TrimSpace(m.Tmux("split-window", "-d", "-P", "-F", format, "-t", target, "cat")),
	}
	for _, pane := range panes {
		if !strings.HasPrefix(pane, "%") {
			m.Fatalf("no pane of a person: %s", panes)
		}
	}
	return panes
}

// The agent's pane, and nothing else, ends with it; its next one goes into the same session.
func TestWindowsOfAPersonSurvive(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	person := m.personPanes("alpha")
	inSession := func(after string) {
		t.Helper()
		m.MustStand(after, person)
		now := m.Session("alpha").TmuxSession
		m.Check(now == before.TmuxSession, "after %s the agent is in session %s, not in %s", after, now, before.TmuxSession)
		sessions := m.SessionNames()
		m.Check(strings.Count(sessions, "\n") == 1, "after %s there are the sessions %s", after, sessions)
	}
	m.OK("stop", "alpha")
	inSession("stop")
	m.MustRemember("alpha", before)
	inSession("resume")
	m.MustRemember("alpha", before, "--force")
	inSession("resume --force")
	m.Kill(m.Session("alpha").RecordedPID, syscall.SIGKILL)
	m.WaitState("alpha", "crashed")
	inSession("a crash")
	m.MustRemember("alpha", before)
	inSession("the resume after a crash")
	m.OK("dismiss", "alpha")
	m.MustStand("dismiss", person)
	panes := strings.Count(m.Tmux("list-panes", "-a"), "\n")
	m.Check(panes == len(person), "%d panes are left, the person has %d", panes, len(person))
}

// Who is attached to an agent's session stays there when the agent is started anew, and looks
// at it again.
func TestAttachedPersonKeepsTheSession(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	c := m.Console(m.Command([]string{"attach", "alpha"}))
	c.MustShow("Remember 42.")
	client := strings.TrimSpace(m.Tmux("list-clients", "-F", "#{client_pid} #{session_id}"))
	m.MustRemember("alpha", before, "--force")
	now := strings.TrimSpace(m.Tmux("list-clients", "-F", "#{client_pid} #{session_id}"))
	m.Check(now == client && client != "", "the client was %q and is %q", client, now)
	m.WaitFor("it looks at the agent", func() (bool, string) {
		shown := m.Tmux("display-message", "-p", "-t", "=nbs-alpha-live:", "#{window_name} #{session_windows}")
		return shown == "alpha 1\n", shown
	})
	c.MustShow("What number?")
}

// A command in another window of the agent's session may end the agent: it does not end with it.
func TestStopFromAnotherWindowOfTheSession(t *testing.T) {
	m := standIn(t)
	m.Remembers("alpha")
	m.Tmux("new-window", "-d", "-t", "=nbs-alpha-live:", "-c", m.World.Project, m.Worker+" stop alpha >stopped 2>&1; cat")
	m.WaitFor("it was stopped", func() (bool, string) { return m.Session("alpha").State == "stopped", m.readFile("stopped") })
	m.WaitFor("the command says so", func() (bool, string) { said := m.readFile("stopped"); return said == "alpha\n", said })
}

// A window of the agent's that a person has moved into a session of their own is still found.
func TestAgentInAWindowThatWasMoved(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.Tmux("new-session", "-d", "-s", "mine", "cat")
	m.Tmux("move-window", "-s", "=nbs-alpha-live:", "-t", "=mine:7")
	s := m.Session("alpha")
	m.Check(s.State == "idle" && s.TmuxAlive, "%+v", s)
	c := m.Console(m.Command([]string{"attach", "alpha"}))
	c.MustShow("Remember 42.")
	m.Refused(5, "to go there: nbs-worker attach alpha", "resume", "alpha")
	m.MustRemember("alpha", before, "--force")
	sessions := m.SessionNames()
	m.Check(strings.Contains(sessions, "mine\n"), "the session of the person has ended: %s", sessions)
}

// readFile reads a file of the project; one that is not there is empty.
func (m *team) readFile(name string) string {
	out, _ := exec.Command("cat", m.World.Project+"/"+name).Output()
	return string(out)
}

// The window bears the agent's name, whatever the programs in it say, and the status line of
// its session shows it.
func TestWindowIsNamedAfterTheAgent(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	s := m.WaitState("alpha", "idle")
	terminal := strings.TrimSpace(m.Tmux("display-message", "-p", "-t", "="+s.TmuxSession+":", "#{pane_tty}"))
	m.Must(os.WriteFile(terminal, []byte("\x1bkanother\x1b\\"), 0o600))
	m.Tmux("run-shell", "-b", "true")
	shown := m.Tmux("display-message", "-p", "-t", "="+s.TmuxSession+":", "#{window_name} #{E:status-format[0]}")
	m.Check(strings.HasPrefix(shown, "alpha ") && strings.Contains(shown, "0:alpha"), "%q", shown)
}

// The same after a start that was killed before its launcher came forward.
func TestWindowsOfAPersonSurviveAStartThatIsEnded(t *testing.T) {
	m := standIn(t, "start-delay=1h")
	m.Refused(3, "not ready", "spawn", "alpha", "--timeout", "500ms")
	person := m.personPanes("alpha")
	m.OK("stop", "alpha")
	m.MustStand("stop", person)
}
