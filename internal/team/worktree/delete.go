package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// delete deletes the files that are in the kept commit with the same bytes. If any other file is there, it deletes
// none, and the tree goes back.
func (r *Removal) delete(ctx context.Context, aside string, kept *Kept) error {
	root, err := os.OpenRoot(r.within(aside))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	has, err := kept.tree(ctx, r.common())
	if err != nil {
		return r.back(aside, err)
	}
	files, folders, strange := r.compare(root, has, len(kept.Head))
	if found, err := r.Machine.In(r.within(aside)); err != nil || len(found) > 0 {
		strange = append(strange, "a process works in it")
	}
	if len(strange) > 0 {
		return r.back(aside, r.refusal([]Obstacle{{What: "it was changed while it was removed: " + strings.Join(strange[:min(len(strange), 5)], ", ")}}))
	}
	for _, f := range files {
		info, err := root.Lstat(f.name)
		if err != nil || !same(info, f.info) {
			return r.back(aside, r.refusal([]Obstacle{{What: human.Quote(f.name) + " was changed while it was removed"}}))
		}
		if err := root.Remove(f.name); err != nil {
			return r.back(aside, fail.Errorf(fail.Failed, "remove the worktree: %w", err))
		}
		if err := r.did("deleted a file"); err != nil {
			return err
		}
	}
	for _, name := range slices.Backward(folders) {
		if err := root.Remove(name); err != nil { // it is not empty
			return r.back(aside, fail.Errorf(fail.Failed, "remove the worktree: %w", err))
		}
	}
	if left, err := fs.ReadDir(root.FS(), "."); err != nil || slices.ContainsFunc(left, func(d fs.DirEntry) bool { return d.Name() != gitLink }) {
		return r.back(aside, r.refusal([]Obstacle{{What: "it was changed while it was removed"}}))
	}
	if err := root.Remove(gitLink); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail.Errorf(fail.Failed, "remove the worktree: %w", err)
	}
	if err := os.Remove(r.within(aside)); err != nil {
		return fail.Errorf(fail.Failed, "remove the worktree: %w", err)
	}
	return nil
}

// compare lists a tree, and names what the kept commit does not have with the same bytes.
func (t *Tree) compare(root *os.Root, has map[string]object, length int) (files []file, folders, strange []string) {
	files, folders, err := list(root)
	if err != nil {
		return nil, nil, []string{err.Error()}
	}
	for i := range files {
		f := &files[i]
		sum, err := f.sum(root, length)
		if err != nil || has[f.name] != (object{f.mode, sum}) {
			strange = append(strange, human.Quote(f.name))
		}
	}
	return files, folders, strange
}

// same reports whether a file is the one that was read, unchanged.
func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
}
