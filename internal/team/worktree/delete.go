package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// delete deletes the files that are in the kept commit with the same bytes. If any other file is there, it deletes
// none, and the tree goes back, unless files were deleted before.
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
		return r.unread(aside, err)
	}
	d := deletion{r, aside, kept, isPartial(root, has)}
	files, folders, strange := r.compare(root, has, len(kept.Head))
	if found, err := r.Machine.In(ctx, r.within(aside)); err != nil || len(found) > 0 {
		strange = append(strange, "a process uses it")
	}
	if len(strange) > 0 {
		return d.stopped(r.refusal([]Obstacle{{What: "it was changed while it was removed: " + strings.Join(strange[:min(len(strange), 5)], ", ")}}))
	}
	for _, f := range files {
		info, err := root.Lstat(f.name)
		if err != nil || !same(info, f.info) {
			return d.stopped(r.refusal([]Obstacle{{What: human.Quote(f.name) + " was changed while it was removed"}}))
		}
		if err := removeIn(root, f.name); err != nil {
			return d.stopped(fail.Errorf(fail.Failed, "remove the worktree: %w", err))
		}
		d.begun = true
		if err := r.did("deleted a file"); err != nil {
			return err
		}
	}
	for _, name := range slices.Backward(folders) {
		if err := removeIn(root, name); err != nil { // it is not empty
			return d.stopped(fail.Errorf(fail.Failed, "remove the worktree: %w", err))
		}
	}
	if left, err := fs.ReadDir(root.FS(), "."); err != nil || slices.ContainsFunc(left, func(d fs.DirEntry) bool { return d.Name() != gitLink }) {
		return d.stopped(r.refusal([]Obstacle{{What: "it was changed while it was removed"}}))
	}
	if err := removeIn(root, gitLink); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d.stopped(fail.Errorf(fail.Failed, "remove the worktree: %w", err))
	}
	if err := os.Remove(r.within(aside)); err != nil {
		return d.stopped(fail.Errorf(fail.Failed, "remove the worktree: %w", err))
	}
	return nil
}

// deletion is the deletion of a tree that was moved aside.
type deletion struct {
	*Removal
	aside string
	kept  *Kept
	begun bool // a file was deleted: a part of a tree is not put in its place
}

// stopped returns why a deletion stops, and puts the tree back if nothing was deleted.
func (d *deletion) stopped(why error) error {
	if !d.begun {
		return d.back(d.aside, why)
	}
	return d.halt(fail.Errorf(fail.KindOf(why), "%w; all that it held is kept in %s", why, d.kept.Ref), d.aside).
		Hint("to bring all of it back: nbs-worker worktree restore %s --at %s", d.Handle, d.kept.When())
}

// unread returns why the kept commit could not be read, and puts the tree back if nothing was deleted, or if nothing is
// kept.
func (r *Removal) unread(aside string, why error) error {
	if r.again && fail.KindOf(why) != fail.NotFound {
		return r.halt(why, aside)
	}
	return r.back(aside, why)
}

// halt adds to an error how a removal goes on.
func (r *Removal) halt(why error, aside string) *fail.Error {
	return fail.Errorf(fail.KindOf(why), "%w; what is left of it is in %s", why, human.Quote(r.within(aside))).
		Hint("when the cause is gone, to go on: nbs-worker dismiss %s --remove-worktree", r.Handle)
}

// isPartial reports whether a file of the kept commit is not there.
func isPartial(root *os.Root, has map[string]object) bool {
	for name := range has {
		if _, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// removeIn removes a file or an empty folder. Some programs, such as Go for its modules, take from their folders the
// right to change them; it is given back.
func removeIn(root *os.Root, name string) error {
	err := root.Remove(name)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	in := path.Dir(name)
	info, unread := root.Lstat(in)
	const write = 0o300
	if unread != nil || info.Mode().Perm()&write == write || root.Chmod(in, info.Mode().Perm()|write) != nil {
		return err
	}
	return root.Remove(name)
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
