package launcher

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

// usersLineVariable marks the environment of the user's status line. That may be our own again: without the mark,
// ours would run itself endlessly.
const usersLineVariable = "NBS_USERS_STATUSLINE"

const (
	statusLineTime  = 5 * time.Second
	statusLineGrace = 100 * time.Millisecond // for its output, while a child of it still has the pipe open
)

// RunStatusLine runs a user's status line like claude: with the shell, and claude's input on stdin. After five
// seconds it is killed with its process group. Its output goes to out, and its exit code is ignored. Within a user's
// status line, RunStatusLine runs nothing.
func RunStatusLine(ctx context.Context, command string, input []byte, out io.Writer) {
	if os.Getenv(usersLineVariable) != "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, statusLineTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	cmd.Stdin, cmd.Stdout = bytes.NewReader(input), out
	cmd.Env = append(os.Environ(), usersLineVariable+"=1")
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) } // not waited for yet, so the group is still its own
	cmd.WaitDelay = statusLineGrace
	_ = cmd.Run()
}
