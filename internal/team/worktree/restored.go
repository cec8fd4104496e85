package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/folder"
	"nbs-worker/internal/platform/smallfile"
)

// restoredMark is a file in git's folder of a tree that was restored. It names the kept commit, and goes with the tree.
const restoredMark = "nbs-restored"

// mark notes that the tree was restored from a kept commit.
func (k *Kept) mark(ctx context.Context, t *Tree) error {
	const private = 0o600
	dir, err := t.gitDir(ctx)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, restoredMark)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a restore that was killed
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, private)
	if err != nil {
		return err
	}
	_, err = file.WriteString(k.Ref + "\n")
	return errors.Join(err, file.Close())
}

// restoredTo returns the folders of a repository's restored trees that are there, by the ref of the kept commit. It is
// what their marks say, and any process can write these.
func restoredTo(common string) map[string]string {
	const most = 4 << 10 // bytes
	all, is := filepath.Join(common, "worktrees"), map[string]string{}
	names, _ := os.ReadDir(all) // without one there is no tree
	for _, name := range names {
		ref, missing := smallfile.Read(filepath.Join(all, name.Name(), restoredMark), most)
		link, unknown := smallfile.Read(filepath.Join(all, name.Name(), "gitdir"), most)
		path := filepath.Dir(strings.TrimSpace(string(link)))
		if missing == nil && unknown == nil && folder.Exists(path) && agent.CheckPath("path", path) == nil {
			is[strings.TrimSpace(string(ref))] = path
		}
	}
	return is
}

// IsBeingRestored reports whether a restore of the tree was killed before it was complete.
func (t *Tree) IsBeingRestored(ctx context.Context) (bool, error) {
	known, err := t.entry(ctx)
	return known != nil && strings.HasPrefix(known.locked, ours+restores), err
}
