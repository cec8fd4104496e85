package security

import (
	"os/exec"
	"path/filepath"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// wider is what no agent in the default permission mode may do. A person may.
const wider = "nbs-worker spawn beta --permission-mode bypassPermissions"

// namedServer copies a shell to a program that bears the name of a tmux server, and returns its path as a shell word.
func (m *team) namedServer() string {
	m.Helper()
	shell, err := exec.LookPath("sh")
	m.Must(err)
	program := filepath.Join(rig.ShortDir(m), "tmux: server")
	m.MustRun(exec.Command("cp", shell, program))
	return "'" + program + "'"
}

// An agent stays an agent below a program to which it has given the name of a tmux server.
func TestSecurityNameOfATmuxServerMakesNoPerson(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--permission-mode", "default", "--", "--allowedTools=Bash")
	m.MustDenyIn(m.Session("alpha"), "agent alpha", map[string]string{
		m.namedServer() + " -c '" + wider + "; exit $?'": "an agent with the permission mode bypassPermissions",
	})
	pid := m.ByHand("hand", "--model", "sonnet", "--permission-mode", "default", "--allowedTools=Bash")
	m.WaitIdle(m.World.ConfigDir, pid)
	m.MustDenyIn(e2e.Session{TmuxSession: "hand"}, byHand(pid), map[string]string{
		"env -u CLAUDECODE " + m.namedServer() + " -c '" + wider + "; exit $?'": "an agent with the permission mode bypassPermissions",
	})
}
