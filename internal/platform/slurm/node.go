package slurm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Show replaces this process by a program on this terminal that runs on the node of a running job.
func (c Client) Show(j Job, program ...string) error {
	srun, err := exec.LookPath("srun")
	if err != nil {
		return fail.Errorf(fail.Unfit, "%w", err)
	}
	words := append(append([]string{"srun"}, beside(j, "--pty")...), program...)
	return &os.PathError{Op: "exec", Path: srun, Err: syscall.Exec(srun, words, c.environment())}
}

// beside returns the options of a srun that runs something on the node of a job, beside what runs there.
func beside(j Job, options ...string) []string {
	return append([]string{"--jobid=" + j.ID, "--overlap", "--quiet", "--nodes=1", "--ntasks=1", "--nodelist=" + j.Node}, options...)
}

// Ended is how a program at a node has ended.
type Ended struct {
	Out  string
	Said string // to stderr
	Code int
}

// At runs a program on the node of a running job, in the folder /, and returns when it has ended, or after a limit; 0: none.
// It has no stdin, and the caller's environment without the variables of some names. A cancelled context interrupts it.
// Errors, beside what it has printed until then: Unfit if it may not have run, or not to its end; Interrupted.
func (c Client) At(ctx context.Context, limit time.Duration, j Job, without []string, program ...string) (Ended, error) {
	limited := ctx
	if limit > 0 {
		var leave context.CancelFunc
		limited, leave = context.WithTimeout(ctx, limit)
		defer leave()
	}
	cmd := exec.CommandContext(limited, "srun", append(beside(j, "--input=none", "--chdir=/"), program...)...)
	cmd.Env = slices.DeleteFunc(c.environment(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(without, name)
	})
	var out, said bounded
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C ends the context, which interrupts the program there
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	node := human.Word(j.Node)
	its, slurms, ranThere := apart(said.text.String())
	done := Ended{Out: out.text.String(), Said: its}
	exit, ended := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		return done, fail.Errorf(fail.Interrupted, "interrupted while a command ran on the node %s", node)
	case err == nil:
		return done, nil
	case limited.Err() != nil:
		return done, fail.Errorf(fail.Unfit, "the command on the node %s did not end within %s", node, limit.Round(time.Second))
	case out.full || said.full: // which may have ended it
		return done, fail.Errorf(fail.Unfit, "the command on the node %s prints too much", node)
	case ended && exit.ExitCode() > 0 && (slurms == "" || ranThere):
		done.Code = exit.ExitCode()
		return done, nil
	case slurms != "":
		err = errors.New(human.Legible(slurms))
	}
	return done, fail.Errorf(fail.Unfit, "the node %s was not reached: srun: %w", node, err)
}

// apart separates what a program has written to stderr from the first error that Slurm has written there. That the
// program has ended with an exit code is no error: if it has written something, and was not cancelled, it ran to its end.
func apart(said string) (its, slurms string, ranThere bool) {
	const coded = ": task 0: Exited with exit code "
	ended, cancelled := false, false
	for line := range strings.Lines(said) {
		rest, fromRun := strings.CutPrefix(line, "srun: ")
		rest, fromStep := strings.CutPrefix(rest, "slurmstepd: ")
		what, failed := strings.CutPrefix(strings.TrimSpace(rest), "error: ")
		switch {
		case !fromRun && !fromStep:
			its += line
		case failed && strings.Contains(what, coded):
			ended = true
		case failed:
			slurms, cancelled = cmp.Or(slurms, what), cancelled || strings.Contains(what, "CANCELLED")
		}
	}
	return its, slurms, ended && !cancelled && its != ""
}

var errTooMuch = errors.New("it prints too much")

// bounded refuses more than a program at a node may print.
type bounded struct {
	text bytes.Buffer
	full bool
}

func (b *bounded) Write(text []byte) (int, error) {
	const most = 8 << 20 // bytes
	if b.full = b.full || b.text.Len()+len(text) > most; b.full {
		return 0, errTooMuch
	}
	return b.text.Write(text)
}
