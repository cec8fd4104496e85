package e2e

import (
	"bytes"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/creack/pty"
)

// MustAnswer waits until the agent has said the words on its screen.
func (m *Team) MustAnswer(handle, words string) {
	m.Helper()
	m.WaitNews(handle+" says "+words, func() string { return m.News(handle) }, func() (bool, string) {
		screen := m.Screen(handle)
		return strings.Contains(screen, "● "+words), screen
	})
}

// Screen is what the agent shows, or why that cannot be seen.
func (m *Team) Screen(handle string) string {
	r := m.NBS("screen", handle)
	if r.Code != 0 {
		return r.String()
	}
	return strings.ReplaceAll(r.Stdout, "\u00a0", " ")
}

// TypeLine types a line into an agent's terminal, as a person would.
func (m *Team) TypeLine(s Session, line string) {
	m.Helper()
	target := "=" + s.TmuxSession + ":"
	m.Tmux("send-keys", "-t", target, "-l", line)
	m.WaitFor("the line is in the box", func() (bool, string) {
		screen := m.Tmux("capture-pane", "-p", "-t", target)
		return strings.Contains(screen, line), screen
	})
	m.Tmux("send-keys", "-t", target, "Enter")
}

// Tmux runs a command on the team's own server and returns its output.
func (m *Team) Tmux(args ...string) string {
	cmd := exec.Command("tmux", append([]string{"-u", "-L", "default"}, args...)...)
	cmd.Env = m.Env
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// SessionNames lists the sessions of the team's own server, each on a line.
func (m *Team) SessionNames() string { return m.Tmux("list-sessions", "-F", "#{session_name}") }

// KeepServer gives the tmux server a session of somebody else's, so that it does not
// end with the agent's.
func (m *Team) KeepServer() { m.Tmux("new-session", "-d", "-s", "somebody", m.Worker+" version; cat") }

// ServerPID is the pid of the team's tmux server; 0 without one.
func (m *Team) ServerPID() int {
	pid, _ := strconv.Atoi(strings.TrimSpace(m.Tmux("display-message", "-p", "#{pid}")))
	return pid
}

// KillServer ends the team's tmux server; what hangs is killed by its pid.
func (m *Team) KillServer() {
	pid := m.ServerPID()
	if pid == 0 {
		return
	}
	m.Tmux("kill-server")
	m.WaitFor("the tmux server is gone", func() (bool, string) { return Dead(pid), "" })
}

// OnTerminal runs a verb whose stdout has to be a terminal.
func (m *Team) OnTerminal(verb string, args ...string) Result {
	m.Helper()
	cmd := m.Command(append([]string{verb}, args...))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	terminal, err := pty.Start(cmd)
	if err != nil {
		m.Error(err)
		return Result{}
	}
	defer terminal.Close()
	out, _ := io.ReadAll(terminal)
	err = cmd.Wait()
	_, exited := errors.AsType[*exec.ExitError](err)
	m.Check(err == nil || exited, "%v", err)
	return Result{Code: cmd.ProcessState.ExitCode(), Stdout: string(out), Stderr: stderr.String()}
}

// MustStand checks that panes are still there, and what runs in them.
func (m *Team) MustStand(after string, panes []string) {
	m.Helper()
	now := strings.Split(strings.TrimSpace(m.Tmux("list-panes", "-a", "-F", "#{pane_id} #{pane_pid}")), "\n")
	for _, pane := range panes {
		m.Check(slices.Contains(now, pane), "after %s the pane %s of a person is gone; there are %q", after, pane, now)
	}
}

// A verb that meets with tmux servers that answer nobody waits for each of them once; one that
// answers late each time is waited for at each question.

// StopServer stops the tmux server of an agent and returns its pid and what makes it go on.
func (m *Team) StopServer(handle string) (server int, goOn func()) {
	m.Helper()
	server = int(TmuxPlace(m.Record(handle))["server_pid"].(float64))
	m.Kill(server, syscall.SIGSTOP)
	goOn = func() { _ = syscall.Kill(server, syscall.SIGCONT) }
	m.Cleanup(goOn) // before the server is ended
	return server, goOn
}
