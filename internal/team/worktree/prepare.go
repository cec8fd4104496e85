package worktree

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/child"
	"nbs-worker/internal/platform/folder"
)

// SetupLimit is how long a setup program may run.
const SetupLimit = 15 * time.Minute

// setupLog is the log of the setup program, among what git has of the tree alone.
const setupLog = "nbs-setup.log"

// CheckLinks checks what a new tree is to share with the main tree. Errors: BadInput; NotFound.
func (p *Plan) CheckLinks(names []string) error {
	for _, name := range names {
		if err := agent.CheckLink(name); err != nil {
			return err
		}
		if _, err := os.Lstat(filepath.Join(p.Main, name)); errors.Is(err, fs.ErrNotExist) {
			return fail.Errorf(fail.NotFound, "link: there is no %s in %s", human.Quote(name), human.Quote(p.Main))
		} else if err != nil {
			return err
		}
	}
	return nil
}

// Link links names of a new tree to the same names of the main tree. It overwrites nothing. Errors: Conflict if there is
// something else.
func (p *Plan) Link(names []string) error {
	tree, err := os.OpenRoot(p.Path)
	if err != nil {
		return err
	}
	defer tree.Close()
	for _, name := range names {
		target := filepath.Join(p.Main, name)
		if now, err := tree.Readlink(name); err == nil && now == target {
			continue
		}
		const private = 0o700
		if err := tree.MkdirAll(filepath.Dir(name), private); err != nil {
			return err
		}
		if err := tree.Symlink(target, name); errors.Is(err, fs.ErrExist) {
			return fail.Errorf(fail.Conflict, "link: %s is in the worktree already", human.Quote(name)).
				Hint("link only what git does not have")
		} else if err != nil {
			return err
		}
	}
	return nil
}

// SetupProgram returns the path of a setup program. It must not be in the main tree or the tree: agents write there.
// Errors: BadInput; NotFound.
func (p *Plan) SetupProgram(argv []string) (string, error) {
	if err := agent.CheckSetup(argv); err != nil {
		return "", err
	}
	path, err := child.Find(argv[0])
	if err != nil {
		return "", fail.Errorf(fail.NotFound, "setup: %w", err)
	}
	for _, tree := range []string{p.Main, p.Project, p.Path} {
		if folder.Contains(tree, filepath.Dir(path)) || folder.Contains(tree, path) {
			return "", fail.Errorf(fail.BadInput, "setup: %s is in the project, where agents write", human.Quote(path)).
				Hint("to run a script that is in the repository, as it is on the branch: [sh, %s]", argv[0])
		}
	}
	return path, nil
}

// Setup runs a program in the new tree, with the environment env and without input. Its log is in git's folder of the
// tree. The tree stays in any case. Errors: Conflict if the program of an earlier command still runs; TimedOut;
// Interrupted; Failed.
func (p *Plan) Setup(ctx context.Context, argv, env []string) (err error) {
	program, err := p.SetupProgram(argv)
	if err != nil {
		return err
	}
	dir, err := p.gitDir(ctx)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, setupLog)
	log, err := openLog(path)
	if err != nil {
		return err
	}
	// A process that this one starts meanwhile may have the log for a moment, with its lock.
	defer func() { err = errors.Join(err, unix.Flock(int(log.Fd()), unix.LOCK_UN), log.Close()) }()
	limited, cancel := context.WithTimeout(ctx, SetupLimit)
	defer cancel()
	failed := (&child.Logged{Path: program, Args: argv[1:], Dir: p.Path, Env: env, Log: log}).Run(limited)
	switch {
	case failed == nil:
		return nil
	case ctx.Err() != nil:
		return fail.Errorf(fail.Interrupted, "setup: interrupted").Hint("the worktree stays; the next start runs it again")
	case limited.Err() != nil:
		return fail.Errorf(fail.TimedOut, "setup: %s did not end within %s", human.Quote(argv[0]), SetupLimit).Hint("its log: %s", human.ShellWord(path))
	}
	return fail.Errorf(fail.Failed, "setup: %s: %w%s", human.Quote(argv[0]), failed, lastOf(path)).
		Hint("its log: %s", human.ShellWord(path)).
		Hint("the worktree stays; the next start runs it again")
}

// openLog opens an empty log. The program that writes to it holds a lock on it, also if this process is killed.
func openLog(path string) (*os.File, error) {
	const private = 0o600
	log, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, private)
	if err != nil {
		return nil, err
	}
	if err = unix.Flock(int(log.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		err = fail.Errorf(fail.Conflict, "setup: the program of an earlier command still runs").
			Hint("its log: %s", human.ShellWord(path)).Hint("to see what runs: fuser %s", human.ShellWord(path))
	} else if err == nil {
		err = log.Truncate(0)
	}
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return log, nil
}

// lastOf returns the last line of a log, for a sentence.
func lastOf(path string) string {
	text, err := os.ReadFile(path)
	text = bytes.TrimSpace(text)
	if err != nil || len(text) == 0 {
		return ""
	}
	line := strings.TrimSpace(string(text[bytes.LastIndexByte(text, '\n')+1:]))
	const long = 300
	return ", it said " + human.Quote(line[:min(len(line), long)])
}
