package main

import (
	"os/exec"
	"strconv"
	"strings"
)

// mustAnswer waits until the agent has said the words on its screen.
func (m *team) mustAnswer(handle, words string) {
	m.Helper()
	m.waitFor(handle+" says "+words, func() (bool, string) {
		screen := m.screen(handle)
		return strings.Contains(screen, "● "+words), screen
	})
}

// screen is what the agent shows, or why that cannot be seen.
func (m *team) screen(handle string) string {
	r := m.nbs("screen", handle)
	if r.code != 0 {
		return r.String()
	}
	return strings.ReplaceAll(r.stdout, "\u00a0", " ")
}

// typeLine types a line into an agent's terminal, as a person would.
func (m *team) typeLine(s session, line string) {
	m.Helper()
	target := "=" + s.TmuxSession + ":"
	m.tmux("send-keys", "-t", target, "-l", line)
	m.waitFor("the line is in the box", func() (bool, string) {
		screen := m.tmux("capture-pane", "-p", "-t", target)
		return strings.Contains(screen, line), screen
	})
	m.tmux("send-keys", "-t", target, "Enter")
}

// tmux runs a command on the team's own server and returns its output.
func (m *team) tmux(args ...string) string {
	cmd := exec.Command("tmux", append([]string{"-u", "-L", "default"}, args...)...)
	cmd.Env = m.env
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// sessionNames lists the sessions of the team's own server, each on a line.
func (m *team) sessionNames() string { return m.tmux("list-sessions", "-F", "#{session_name}") }

// keepServer gives the tmux server a session of somebody else's, so that it does not
// end with the agent's.
func (m *team) keepServer() { m.tmux("new-session", "-d", "-s", "somebody", m.worker+" version; cat") }

// serverPID is the pid of the team's tmux server; 0 without one.
func (m *team) serverPID() int {
	pid, _ := strconv.Atoi(strings.TrimSpace(m.tmux("display-message", "-p", "#{pid}")))
	return pid
}

// killServer ends the team's tmux server; what hangs is killed by its pid.
func (m *team) killServer() {
	pid := m.serverPID()
	if pid == 0 {
		return
	}
	m.tmux("kill-server")
	m.waitFor("the tmux server is gone", func() (bool, string) { return dead(pid), "" })
}
