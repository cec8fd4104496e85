package child

import (
	"context"
	"os"
	"os/exec"
	"syscall"
)

// Logged is a program of the user's that writes to a log. It has no input, and no shell reads its arguments.
type Logged struct {
	Path, Dir string
	Args, Env []string
	Log       *os.File
}

// Find returns the path of a program, which may be a name on the PATH. Errors: it is not there.
func Find(name string) (path string, err error) { return exec.LookPath(name) }

// Run runs the program. A cancelled one is killed with its process group.
func (l *Logged) Run(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, l.Path, l.Args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = l.Dir, l.Env, l.Log, l.Log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd.Run()
}
