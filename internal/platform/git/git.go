// Package git asks git about a folder that must not be part of any repository, such as .nbs.
//
// A repository may come from a stranger, and its configuration decides how git works. So git is
// started without the caller's GIT_ variables, and without programs that a repository may name. It
// runs only commands that change no work tree and no index.
//
// The package does not know what is in the folder. It imports no other package of this program.
package git

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"
)

// Folder is a folder that must not be part of any repository.
type Folder struct {
	Parent string // absolute
	Name   string
	Env    []string // the caller's environment
}

// Unignored reports whether git would add new files of the folder. It returns false if there is no git or no
// repository.
func (f Folder) Unignored(ctx context.Context) bool {
	_, code, err := f.run(ctx, "check-ignore", "--quiet", "--no-index", "--", f.Name+"/sessions/a.json")
	const notIgnored = 1 // 128: it is no repository
	return err == nil && code == notIgnored
}

// Tracked lists the files of the folder that git tracks, as paths below its parent.
func (f Folder) Tracked(ctx context.Context) []string {
	out, code, err := f.run(ctx, "ls-files", "-z", "--", ":(literal)"+f.Name)
	if err != nil || code != 0 || out == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
}

// limit is how long git may take; a repository may be on a disk that does not answer.
const limit = 5 * time.Second

// run runs git in the parent of the folder.
func (f Folder) run(ctx context.Context, args ...string) (out string, code int, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	// core.fsmonitor names a program to run. A bare repository without a .git is refused: any tool could create one
	// from plain files of a project.
	safe := []string{"--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit"}
	cmd := exec.CommandContext(ctx, "git", append(safe, args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = f.Parent, f.environment(), time.Second
	text, err := cmd.Output()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		return string(text), ended.ExitCode(), nil
	}
	return string(text), 0, err
}

// environment returns the variables with which git finds itself and its user's configuration, which says whose
// repositories are safe. Missing objects are not fetched: the repository names the program for that.
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
