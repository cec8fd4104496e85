package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/folder"
	"nbs-worker/internal/platform/git"
)

// State is how a tree that a record names stands with git.
type State string

// The states of a tree.
const (
	Fine     State = ""         // in its place, and locked for its agent
	Lost     State = "lost"     // its folder is not there; git knows no other place
	Moved    State = "moved"    // git knows it in another place
	Unlocked State = "unlocked" // git may forget it, and commands may remove it
	Foreign  State = "foreign"  // locked for another reason
	Unknown  State = "unknown"  // git does not know it, or something else is in its place
)

// Look is a look at a tree.
type Look struct {
	State State
	What  string // Moved: the place; Foreign: what the lock says; Unknown: what is wrong
}

// Look looks at the tree. Errors are those of git.
func (t *Tree) Look(ctx context.Context) (Look, error) {
	known, err := t.entry(ctx)
	if err != nil {
		return Look{}, err
	}
	if _, err := os.Lstat(t.Path); errors.Is(err, fs.ErrNotExist) {
		at, err := t.movedTo(ctx)
		if at != "" {
			return Look{Moved, at}, err
		}
		return Look{State: Lost}, err
	}
	if err := t.checkIsTree(ctx); err != nil {
		return Look{Unknown, err.Error()}, nil //nolint:nilerr // it is what is wrong
	}
	switch {
	case known == nil:
		return Look{Unknown, "git does not list it"}, nil
	case !known.isLocked:
		return Look{State: Unlocked}, nil
	case known.locked == t.reason():
		return Look{}, nil
	case strings.HasPrefix(known.locked, ours): // for a handle or a project that it had before
		return Look{State: Unlocked}, nil
	}
	return Look{Foreign, known.locked}, nil
}

// movedTo returns where git knows a tree with the branch of this one, which is not in its place.
func (t *Tree) movedTo(ctx context.Context) (string, error) {
	all, err := entries(ctx, t.common())
	for _, e := range all {
		if e.branch == t.Branch && e.path != t.Path && folder.Exists(e.path) {
			return e.path, nil
		}
	}
	return "", err
}

// MoveBack returns the command that moves a tree to its place again.
func (t *Tree) MoveBack(from string) string {
	to := human.ShellWord(t.Path)
	return "mv " + human.ShellWord(from) + " " + to + " && git -C " + to + " worktree repair"
}

// Lock locks the tree for its agent, unless a person has locked it.
func (t *Tree) Lock(ctx context.Context) error {
	known, err := t.entry(ctx)
	if err != nil || known == nil || known.isLocked && !strings.HasPrefix(known.locked, ours) {
		return err
	}
	return t.relock(ctx, t.reason())
}

// Recover brings back a tree that was deleted by hand, as far as git has it: the files as they were last staged or
// committed. Errors: Conflict if git has nothing of it, or if a removal has moved it.
func (t *Tree) Recover(ctx context.Context) (files int, err error) {
	dir, err := t.dirOf()
	if err != nil {
		return 0, err
	}
	const private, secret = 0o700, 0o600
	if err := os.MkdirAll(filepath.Dir(t.Path), private); err != nil {
		return 0, err
	}
	if err := os.Mkdir(t.Path, private); err != nil {
		return 0, err
	}
	if err := os.WriteFile(filepath.Join(t.Path, gitLink), []byte("gitdir: "+dir+"\n"), secret); err != nil {
		return 0, err
	}
	here := git.Dir(t.Path)
	if t.isHalfMade(ctx) {
		if _, err := here.Run(ctx, "read-tree", "HEAD"); err != nil {
			return 0, err
		}
	}
	if _, err := here.Run(ctx, "checkout-index", "--all", "--quiet"); err != nil {
		return 0, err
	}
	said, err := here.Run(ctx, "ls-files", "-z")
	return strings.Count(said, "\x00"), err
}

// dirOf returns what git has of a tree whose folder is not there.
func (t *Tree) dirOf() (string, error) {
	links, err := filepath.Glob(filepath.Join(t.Common, "worktrees/*/gitdir"))
	if err != nil {
		return "", err
	}
	for _, link := range links {
		text, err := os.ReadFile(link)
		if err == nil && strings.TrimSpace(string(text)) == filepath.Join(t.Path, gitLink) {
			return filepath.Dir(link), nil
		}
	}
	return "", fail.Errorf(fail.Conflict, "git has nothing of the worktree %s", human.Quote(t.Path)).
		Hint("to make a worktree of its branch: git -C %s worktree add %s %s", human.ShellWord(t.Common), human.ShellWord(t.Path), human.ShellWord(t.Branch))
}
