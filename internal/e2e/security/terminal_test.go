package security

import (
	"os/exec"
	"syscall"

	"github.com/creack/pty"

	"nbs-worker/internal/e2e"
)

// consoleThat is a terminal in which something was typed before the command runs.
func (m *team) consoleThat(typed string, cmd *exec.Cmd) *e2e.Console {
	m.Helper()
	terminal, end, err := pty.Open()
	if err == nil {
		_, err = terminal.WriteString(typed)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = end, end, end
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err == nil {
		err = cmd.Start()
	}
	m.Must(err)
	_ = end.Close()
	return m.Watch(cmd, terminal)
}
