// Package child runs this program again, beside this process or in its terminal, and programs that the user names.
package child

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Run runs a command line with no input, and returns what it wrote to stdout and stderr, and its exit code; 128 and the
// signal if a signal ended it. A cancelled command is told to end by SIGINT. Errors: it could not be run.
func Run(ctx context.Context, program string, args ...string) (said string, code int, err error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a key at our terminal does not interrupt it
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	const late = 30 * time.Second // each verb ends within its limit
	cmd.WaitDelay = late
	code, err = exitCode(cmd.Run())
	return out.String(), code, err
}

// OnTerminal runs a command line on this process's terminal until it ends, and returns its exit code; 128 and the signal
// if a signal ended it. Errors: it could not be run.
func OnTerminal(ctx context.Context, program string, args ...string) (code int, err error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it restores the terminal
	return exitCode(cmd.Run())
}

// exitCode separates the exit code of a program from the error that it could not be run.
func exitCode(err error) (int, error) {
	exit, is := errors.AsType[*exec.ExitError](err)
	if !is {
		return 0, err
	}
	if code := exit.ExitCode(); code >= 0 {
		return code, nil
	}
	return 128 + int(exit.Sys().(syscall.WaitStatus).Signal()), nil
}

// Foreground is a command line that gets the terminal until it ends. What it writes to stderr is for its caller.
type Foreground struct {
	cmd  *exec.Cmd
	said bytes.Buffer
}

// InForeground returns a command line for the terminal.
func InForeground(program string, args ...string) *Foreground {
	f := &Foreground{cmd: exec.Command(program, args...)} //nolint:noctx // its user ends it
	f.cmd.Stderr = &f.said
	return f
}

// Run runs it to its end. Errors: it could not be run; or what it wrote to stderr, if it ended with another code than 0.
func (f *Foreground) Run() error {
	err := f.cmd.Run()
	if said := strings.TrimSpace(f.said.String()); err != nil && said != "" {
		return errors.New(said)
	}
	return err
}

// SetStdin sets its input.
func (f *Foreground) SetStdin(r io.Reader) { f.cmd.Stdin = r }

// SetStdout sets its output.
func (f *Foreground) SetStdout(w io.Writer) { f.cmd.Stdout = w }

// SetStderr changes nothing: an error belongs on the screen that comes back.
func (f *Foreground) SetStderr(io.Writer) {}
