// Package git keeps a folder out of a repository: it is on the list of what git ignores here
// and nowhere else, .git/info/exclude, and what git tracks of it all the same can be told.
//
// A repository comes from anywhere, and says how git works in it. Git is started with nothing
// of the caller's GIT_ variables, without what a repository may have it run, and only for what
// changes no work tree and no index. Where there is no git, or no repository, there is nothing
// to keep out of.
//
// The package knows nothing of what is in the folder and imports no other of the program.
package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Folder is a folder that is no part of any repository, such as .nbs.
type Folder struct {
	Parent string // absolute
	Name   string
	Env    []string // the caller's environment
}

// limit is how long git may take; a repository may be on a disk that does not answer.
const limit = 5 * time.Second

// errNone is the answer of a git that is not there, or in no repository.
var errNone = errors.New("no git repository")

// run runs git in the parent of the folder.
func (f Folder) run(ctx context.Context, args ...string) (out string, code int, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	// core.fsmonitor names a program. A folder that looks like a repository is none without a .git:
	// plain files of a project, as any tool may write them, would make one.
	safe := []string{"--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit"}
	cmd := exec.CommandContext(ctx, "git", append(safe, args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = f.Parent, f.environment(), time.Second
	text, err := cmd.Output()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		return string(text), ended.ExitCode(), nil
	}
	if err != nil {
		return "", 0, errNone
	}
	return string(text), 0, nil
}

// environment is what git needs to find itself and its user's configuration, which says whose
// repositories are safe. What a repository lacks is not fetched: it names the program that would.
func (f Folder) environment() []string {
	env := []string{"LC_ALL=C", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none"}
	for _, entry := range f.Env {
		switch name, _, _ := strings.Cut(entry, "="); name {
		case "HOME", "PATH", "XDG_CONFIG_HOME", "TMPDIR":
			env = append(env, entry)
		}
	}
	return env
}

// place is where the folder lies in a repository.
type place struct {
	list string // the file with what is ignored
	line string // the one that stands for the folder
}

// ask asks git itself: only it knows a worktree, a submodule and its own configuration.
func (f Folder) ask(ctx context.Context) (place, error) {
	out, code, err := f.run(ctx, "rev-parse", "--is-inside-work-tree", "--show-prefix", "--git-path", "info/exclude")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	const asked = 3
	if err != nil || code != 0 || len(lines) != asked || lines[0] != "true" {
		return place{}, errNone
	}
	return place{list: from(f.Parent, lines[2]), line: f.lineIn(lines[1])}, nil
}

// lineIn is the line that stands for the folder and no other, in a work tree of which its
// parent is the folder named, with a slash at its end; "" for the top.
func (f Folder) lineIn(prefix string) string {
	return "/" + strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(prefix+f.Name) + "/"
}

// guess finds the same by looking, without a git that is started. It is wrong where a
// repository is configured to be elsewhere; then the line is not found there.
func (f Folder) guess() (place, error) {
	parent, err := filepath.EvalSymlinks(f.Parent)
	if err != nil {
		return place{}, err
	}
	top, err := worktreeOf(parent)
	if err != nil {
		return place{}, err
	}
	prefix := strings.TrimPrefix(strings.TrimPrefix(parent, top)+"/", "/")
	return place{list: filepath.Join(commonFolder(top), "info", "exclude"), line: f.lineIn(prefix)}, nil
}

// worktreeOf is the nearest folder upward that has a .git.
func worktreeOf(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", errNone
		}
	}
}

// commonFolder is what a .git stands for: itself, or the folder that it names, which for a
// worktree names another one that all worktrees share.
func commonFolder(top string) string {
	dir := filepath.Join(top, ".git")
	if named, ok := pointer(dir, "gitdir: "); ok {
		dir = from(top, named)
	}
	if named, ok := pointer(filepath.Join(dir, "commondir"), ""); ok {
		dir = from(dir, named)
	}
	return dir
}

// pointer reads a file of one line that names a folder.
func pointer(path, begin string) (named string, ok bool) {
	text, err := read(path)
	named, is := strings.CutPrefix(strings.TrimRight(text, "\r\n"), begin)
	return named, err == nil && is && named != ""
}

func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
