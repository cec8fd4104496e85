// Package worktree makes the git worktree of an agent, and removes it when nothing in it can be lost.
//
//   - A tree is made by git, outside of the repository's own tree, and is locked while a record names it.
//   - A removal is asked for, and proved: each reason against it is an [Obstacle]. What cannot be inspected is an
//     obstacle too.
//   - Before a removal, a commit below [KeptRefs] has the bytes of each file of the tree, and each commit that only the
//     tree reaches.
//   - A removal deletes only files that are in that commit, one by one. It never removes a folder with what is in it. It
//     can be killed at any step; the next call goes on.
//
// The package knows no records: its caller says which folders other agents use.
package worktree

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/folder"
	"nbs-worker/internal/platform/git"
)

// KeptRefs is where the commits of removed trees are: KeptRefs, the handle, the time.
const KeptRefs = "refs/nbs/kept/"

// Tree is the worktree of an agent.
type Tree struct {
	agent.OwnWorktree
	Handle  agent.Handle
	Project string // the root of the agent's project
}

// ours is the beginning of what the locks of agents' trees say.
const ours = "nbs-worker: "

// reason is what the lock of a tree says.
func (t *Tree) reason() string {
	return ours + "agent " + string(t.Handle) + " of " + t.Project
}

func (t *Tree) common() git.Dir { return git.Dir(t.Common) }

// repository returns the top folder of the working tree that a folder is in, and the git directory that it shares.
// Errors: NotFound if the folder is in no repository; BadInput for a repository without a working tree.
func repository(ctx context.Context, at string) (top, common string, err error) {
	said, err := git.Dir(at).Run(ctx, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir")
	if err != nil {
		if git.Code(err) < 0 {
			return "", "", err
		}
		return "", "", fail.Errorf(fail.NotFound, "%s is in no git working tree: %w", human.Quote(at), err)
	}
	top, common, _ = strings.Cut(said, "\n")
	return top, folder.Real(common), nil
}

// entry is a worktree in git's list.
type entry struct {
	path, head, branch, locked string
	isLocked, isGone           bool
}

// entries returns the worktrees of a repository, the main one first.
func entries(ctx context.Context, common git.Dir) (all []entry, err error) {
	said, err := common.Run(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	for block := range strings.SplitSeq(said, "\x00\x00") {
		var e entry
		for line := range strings.SplitSeq(block, "\x00") {
			word, rest, _ := strings.Cut(line, " ")
			switch word {
			case "worktree":
				e.path = rest
			case "HEAD":
				e.head = rest
			case "branch":
				e.branch = strings.TrimPrefix(rest, "refs/heads/")
			case "locked":
				e.isLocked, e.locked = true, rest
			case "prunable":
				e.isGone = true
			}
		}
		if e.path != "" {
			all = append(all, e)
		}
	}
	return all, nil
}

// mendEntries completes what git has of agents' trees. If git was killed just before it wrote there where the repository
// is, it can list no worktree of the repository.
func mendEntries(common string) error {
	const dirFile, dir = "commondir", "../..\n"
	locks, err := filepath.Glob(filepath.Join(common, "worktrees/*/locked"))
	for _, lock := range locks {
		at := filepath.Join(filepath.Dir(lock), dirFile)
		if info, unread := os.Lstat(at); unread == nil && (info.Size() > 0 || !info.Mode().IsRegular()) {
			continue
		}
		if text, unread := os.ReadFile(lock); unread != nil || !strings.HasPrefix(string(text), ours) {
			continue
		}
		if err := os.WriteFile(at, []byte(dir), 0o600); err != nil {
			return err
		}
	}
	return err
}

// entry returns the tree in git's list; nil if git does not know it.
func (t *Tree) entry(ctx context.Context) (*entry, error) {
	all, err := entries(ctx, t.common())
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].path == t.Path || folder.Same(all[i].path, t.Path) {
			return &all[i], nil
		}
	}
	return nil, nil
}

// checkIsTree checks that what is at the path is the tree of the record.
func (t *Tree) checkIsTree(ctx context.Context) error {
	info, err := os.Lstat(t.Path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fail.Errorf(fail.Conflict, "%s is no folder", human.Quote(t.Path))
	}
	top, common, err := repository(ctx, t.Path)
	switch {
	case err != nil:
		return err
	case folder.Real(top) != folder.Real(t.Path):
		return fail.Errorf(fail.Conflict, "%s is a part of %s", human.Quote(t.Path), human.Quote(top))
	case !folder.Same(common, t.Common):
		return fail.Errorf(fail.Conflict, "%s belongs to another repository: %s", human.Quote(t.Path), human.Quote(common))
	case isMain(t.Path):
		return fail.Errorf(fail.Conflict, "%s is the main working tree of its repository", human.Quote(t.Path))
	}
	return nil
}

// isMain reports whether a folder is a main working tree: there .git is a folder.
func isMain(path string) bool { return folder.Exists(filepath.Join(path, ".git")) }

// gitDir returns what git has of this tree alone: its HEAD, its index, its log.
func (t *Tree) gitDir(ctx context.Context) (string, error) {
	return git.Dir(t.Path).Run(ctx, "rev-parse", "--absolute-git-dir")
}
