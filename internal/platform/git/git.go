// Package git runs git in a working tree or a git directory. It starts no program that only the repository names: no hook,
// file system monitor, filter, transport, check of signatures or pager. A filter of the user's own runs.
package git

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Dir is a folder in which git runs: a working tree, a folder in it, or a git directory.
type Dir string

// How long one run may take. A checkout of a large repository takes minutes.
const (
	wait     = 10 * time.Minute
	waitLook = time.Minute     // for what reads and writes no file of the working tree
	waitLeft = 5 * time.Second // for the end of git's output, which a filter that hangs has open after git has ended
)

// Run runs git with arguments, and returns what it wrote to stdout, without the last line break. Errors: Unfit without
// git; TimedOut; Failed with the first line of what git said.
func (d Dir) Run(ctx context.Context, args ...string) (string, error) {
	return d.RunWith(ctx, nil, args...)
}

// RunWith runs git with variables besides those of this process.
func (d Dir) RunWith(ctx context.Context, env []string, args ...string) (string, error) {
	var stdout bytes.Buffer
	if err := d.pipe(ctx, env, nil, &stdout, args...); err != nil {
		return stdout.String(), err
	}
	return strings.TrimSuffix(stdout.String(), "\n"), nil
}

// Pipe runs git with an input and an output. If the output refuses what git writes, git is ended.
func (d Dir) Pipe(ctx context.Context, in io.Reader, out io.Writer, args ...string) error {
	return d.pipe(ctx, nil, in, out, args...)
}

func (d Dir) pipe(ctx context.Context, env []string, in io.Reader, out io.Writer, args ...string) error {
	limit := wait
	if noFiles[verb(args)] {
		limit = waitLook
	} else {
		config, err := d.ReadConfig(ctx)
		if err != nil {
			return err
		}
		env = append(config.env(), env...)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", quiet(args)...)
	d.in(cmd, append(env, "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C"))
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = in, out, &stderr, waitFor(out)
	err := cmd.Run()
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // git ended well, and all that it wrote was there before
		return nil
	case errors.Is(err, exec.ErrNotFound):
		return fail.Errorf(fail.Unfit, "git is not installed")
	case ctx.Err() != nil:
		return fail.Errorf(fail.TimedOut, "git %s: it did not end: %w", verb(args), ctx.Err())
	}
	failed := &Error{Verb: verb(args), Said: human.Legible(strings.TrimSpace(stderr.String())), cause: err}
	if lock := lockIn(failed.Said); lock != "" {
		return fail.Errorf(fail.Failed, "%w", failed).Hint("if no git runs there, one was killed; to remove its lock: rm %s", human.ShellWord(lock))
	}
	return failed
}

// waitFor returns for how long a run waits for the end of git's output after git has ended; 0 is without a limit. What
// does not stay in memory is read by another, who may be slow, as at a restore to a slow disk; no filter has it open.
func waitFor(out io.Writer) time.Duration {
	if _, staysInMemory := out.(*bytes.Buffer); staysInMemory {
		return waitLeft
	}
	return 0
}

// lockIn returns the lock that git has found to be taken; "" if it failed for another reason. A git that was killed leaves
// its locks.
func lockIn(said string) string {
	_, after, is := strings.Cut(said, "Unable to create '")
	lock, _, closed := strings.Cut(after, "': File exists")
	if !is || !closed || !filepath.IsAbs(lock) || !strings.HasSuffix(lock, ".lock") {
		return ""
	}
	return lock
}

// noFiles are git's commands that neither read nor write files of the working tree, so that no filter runs.
var noFiles = map[string]bool{
	"config": true, "rev-parse": true, "symbolic-ref": true, "for-each-ref": true, "rev-list": true, "merge-base": true, "log": true,
	"ls-tree": true, "diff-tree": true, "update-ref": true,
}

// verb returns the command among arguments that may begin with options of git itself.
func verb(args []string) string {
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		if args[0] == "-c" {
			args = args[1:]
		}
		args = args[1:]
	}
	return args[0]
}

// still are git's own options for a run that starts no hook, no file system monitor, and no check of signatures.
var still = []string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "log.showSignature=false"}

func quiet(args []string) []string { return slices.Concat(still, []string{"--no-pager"}, args) }

// noFetch has git fetch nothing, not even what a partial clone lacks: the repository names the program that would.
var noFetch = []string{"GIT_ALLOW_PROTOCOL=", "GIT_NO_LAZY_FETCH=1"}

// in has a command run in the folder, with these variables and those of this process that are not git's.
func (d Dir) in(cmd *exec.Cmd, env []string) {
	cmd.Dir, cmd.Env = string(d), append(append(without(os.Environ(), "GIT_"), noFetch...), env...)
}

// Error is a run of git that failed.
type Error struct {
	Verb, Said string
	cause      error
}

func (e *Error) Error() string {
	said, _, _ := strings.Cut(e.Said, "\n")
	if said == "" {
		said = e.cause.Error()
	}
	return "git " + e.Verb + ": " + said
}

func (e *Error) Unwrap() error { return e.cause }

// Code returns the exit code of a run that failed; -1 for another error.
func Code(err error) int {
	if exit, is := errors.AsType[*exec.ExitError](err); is {
		return exit.ExitCode()
	}
	return -1
}

// without returns the variables whose names do not begin with a prefix.
func without(env []string, prefix string) []string {
	var rest []string
	for _, entry := range env {
		if !strings.HasPrefix(entry, prefix) {
			rest = append(rest, entry)
		}
	}
	return rest
}
