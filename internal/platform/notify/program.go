// Package notify runs a program of the user with a message: one JSON object on its standard
// input.
//
//   - The program is run without a shell, in a folder of no project, with a few variables and no
//     key of any service.
//   - It has a time limit, at which it is killed with its process group.
//   - Its stdout is discarded; the end of its stderr is in the error.
//
// The package does not know what the message means.
package notify

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Program is a program of the user.
type Program struct {
	Argv  []string // its path, and arguments
	Limit time.Duration
}

// passed are the variables that a program gets: those through which it reaches the user.
var passed = []string{
	"HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
	"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
}

// Tell runs the program, and returns when it has ended. Errors: TimedOut; Failed.
func (p Program) Tell(ctx context.Context, message []byte) error {
	ctx, cancel := context.WithTimeout(ctx, p.Limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Argv[0], p.Argv[1:]...)
	cmd.Dir, cmd.Env = "/", environment()
	cmd.Stdin = bytes.NewReader(message)
	said := &tail{}
	cmd.Stderr = said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	const late = time.Second // what the program has started may keep its pipes open
	cmd.WaitDelay = late
	err := cmd.Run()
	switch {
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fail.Errorf(fail.TimedOut, "%s did not end within %s", human.Quote(p.Argv[0]), p.Limit)
	}
	return fail.Errorf(fail.Failed, "%s: %w%s", human.Quote(p.Argv[0]), err, said)
}

func environment() []string {
	env := []string{}
	for _, name := range passed {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

const tailLimit = 300 // bytes

func (t *tail) Write(text []byte) (int, error) {
	t.text = append(t.text, text...)
	t.text = t.text[max(0, len(t.text)-tailLimit):]
	return len(text), nil
}

func (t *tail) String() string {
	if text := strings.TrimSpace(string(t.text)); text != "" {
		return ", it said " + human.Quote(text)
	}
	return ""
}
