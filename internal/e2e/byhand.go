package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Claudes that a person started without nbs-worker.

// ByHand starts claude in a tmux session of its own, in the folder where commands are run,
// and returns its pid.
func (m *Team) ByHand(session string, args ...string) int {
	m.Helper()
	return m.ByHandOn("default", session, nil, args...)
}

// ByHandOn is byHand in another tmux server and with more variables.
func (m *Team) ByHandOn(socket, session string, env []string, args ...string) int {
	m.Helper()
	words := []string{"-u", "-L", socket, "new-session", "-d", "-s", session, "-x", "120", "-y", "40", "-P", "-F", "#{pane_pid}", "-c", m.Dir}
	for _, entry := range append(append([]string{}, m.Env...), env...) {
		words = append(words, "-e", entry)
	}
	cmd := exec.Command("tmux", append(append(words, "--", m.Variable("NBS_CLAUDE")), args...)...)
	cmd.Env = m.Env
	pid, err := strconv.Atoi(strings.TrimSpace(m.MustRun(cmd)))
	m.Must(err)
	if socket != "default" {
		m.Cleanup(func() {
			end := exec.Command("tmux", "-L", socket, "kill-server")
			end.Env = m.Env
			_ = end.Run() // it may have ended with its last session
		})
	}
	return pid
}

// Registered is what Claude's registry has of a process.
type Registered struct {
	SessionID string `json:"sessionId"`
	Status    string `json:"status"`
}

// WaitIdle waits until Claude's registry has a process as idle.
func (m *Team) WaitIdle(configDir string, pid int) Registered {
	m.Helper()
	var live Registered
	m.WaitFor("claude is idle", func() (bool, string) {
		text, _ := os.ReadFile(filepath.Join(configDir, "sessions", fmt.Sprint(pid, ".json")))
		_ = json.Unmarshal(text, &live)
		return live.Status == "idle", string(text)
	})
	return live
}

// MustLive checks that these processes still run.
func (m *Team) MustLive(pids ...int) {
	m.Helper()
	for _, pid := range pids {
		m.Check(!Dead(pid), "process %d was ended", pid)
	}
}
