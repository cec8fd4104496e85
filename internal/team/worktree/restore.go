package worktree

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/folder"
	"nbs-worker/internal/platform/git"
)

// Restored is a tree that was brought back.
type Restored struct {
	Kept   Kept
	Path   string
	Branch string // "": its branch has gone on or is checked out elsewhere, and the tree has none
	Files  int
}

// Wish says which tree is brought back.
type Wish struct {
	Handle  agent.Handle
	Project string    // the root of the agent's project
	At      string    // the time of its removal, see [Kept.When]; "": the last one
	To      string    // an absolute path; "": where it was
	Folder  string    // where trees are made; "": the usual folder
	Now     time.Time // a removal in the future is not the last one
}

// Restore brings back the tree of an agent as it was removed. The kept commit stays. A restore or a removal that was
// killed is taken up: what is there stays, and what is missing is written. Any process can write a kept commit, so
// without a named place a tree comes back only where trees are made. Errors: NotFound if nothing is kept; Conflict if the
// place is taken or unusual.
func Restore(ctx context.Context, w Wish) (done Restored, err error) {
	_, shared, err := repository(ctx, w.Project)
	if err != nil {
		return done, err
	}
	if err := mendEntries(shared); err != nil {
		return done, err
	}
	if done.Kept, err = w.choose(ctx, shared); err != nil {
		return done, err
	}
	k := &done.Kept
	if w.To == "" {
		if err := w.checkPlace(ctx, shared, k); err != nil {
			return done, err
		}
	}
	t := &Tree{Handle: w.Handle, Project: w.Project, OwnWorktree: agent.OwnWorktree{Common: shared, Branch: k.Branch, Path: cmp.Or(w.To, k.Path)}}
	done.Path = t.Path
	done.Files, done.Branch, err = k.restore(ctx, t)
	return done, err
}

// restore makes the tree of a kept commit, or completes it.
func (k *Kept) restore(ctx context.Context, t *Tree) (files int, branch string, err error) {
	if err := k.begin(ctx, t); err != nil {
		return 0, "", err
	}
	here := git.Dir(t.Path)
	if branch, err = here.Run(ctx, "symbolic-ref", "--quiet", "--short", "HEAD"); err != nil && git.Code(err) != 1 {
		return 0, "", err
	}
	if t.isHalfMade(ctx) {
		if _, err := here.Run(ctx, "read-tree", "HEAD"); err != nil {
			return 0, branch, err
		}
	}
	if files, err = k.writeAll(ctx, t.common(), t.Path); err != nil {
		return files, branch, fail.Errorf(fail.KindOf(err), "write its files to %s: %w", human.Quote(t.Path), err).
			Hint("all of them are in %s", k.Ref)
	}
	if _, err = here.Run(ctx, "update-index", "-q", "--refresh"); err != nil && git.Code(err) != 1 { // 1: a file differs from the commit
		return files, branch, err
	}
	if err := k.mark(ctx, t); err != nil {
		return files, branch, err
	}
	return files, branch, t.unlockIf(ctx, k.reason())
}

// reason is what the lock of a tree says while it is restored.
func (k *Kept) reason() string { return ours + restores + k.Ref }

const restores = "restores "

// begin makes the tree without files, unless a restore or a removal that was killed has left it.
func (k *Kept) begin(ctx context.Context, t *Tree) error {
	if t.Path == k.Path {
		if err := k.takeUpRemoval(ctx, t); err != nil {
			return err
		}
	}
	known, err := t.entry(ctx)
	if err != nil {
		return err
	}
	if known != nil && known.locked == k.reason() {
		if again, err := t.takeBack(ctx); err != nil || !again {
			return err
		}
		known = nil
	}
	switch _, err := os.Lstat(t.Path); {
	case known != nil && errors.Is(err, fs.ErrNotExist):
		return t.errMissing()
	case !errors.Is(err, fs.ErrNotExist) && !holdsOnly(t.Path):
		return errors.Join(fail.Errorf(fail.Conflict, "%s is there already", human.Quote(t.Path)).
			Hint("name another folder: nbs-worker worktree restore %s --to DIR", t.Handle), err)
	}
	const private = 0o700
	if err := os.MkdirAll(filepath.Dir(t.Path), private); err != nil {
		return err
	}
	args, err := k.checkout(ctx, t.common(), t.Path)
	if err != nil {
		return err
	}
	_, err = t.common().Run(ctx, args...)
	return err
}

// choose returns what is kept of an agent of this project.
func (w *Wish) choose(ctx context.Context, common string) (Kept, error) {
	all, err := KeptTrees(ctx, common, w.Handle)
	if err != nil {
		return Kept{}, err
	}
	i := slices.IndexFunc(all, func(k Kept) bool {
		return k.Project == w.Project && (k.When() == w.At || w.At == "" && !k.At.After(w.Now))
	})
	if i < 0 {
		return Kept{}, notKept(w.Handle)
	}
	return all[i], nil
}

// checkPlace refuses the old place of a tree if trees are not made there. The last part of a place is a handle: the
// agent's, or one that it had before.
func (w *Wish) checkPlace(ctx context.Context, common string, k *Kept) error {
	usual, _, err := place(ctx, git.Dir(common), w.Folder)
	if err != nil {
		return err
	}
	if _, err := agent.ParseHandle(filepath.Base(k.Path)); err == nil && filepath.Dir(k.Path) == usual {
		return nil
	}
	return fail.Errorf(fail.Conflict, "its place %s is not in %s, where worktrees are made", human.Quote(k.Path), human.Quote(usual)).
		Hint("to name a folder: nbs-worker worktree restore %s --at %s --to DIR", w.Handle, k.When())
}

// takeUpRemoval brings back to its place what a removal that was killed has not deleted.
func (k *Kept) takeUpRemoval(ctx context.Context, t *Tree) error {
	aside := filepath.Join(filepath.Dir(t.Path), t.aside()+k.When())
	if !folder.Exists(aside) {
		return nil
	}
	_, err := os.Lstat(t.Path)
	isTaken := !errors.Is(err, fs.ErrNotExist)
	within := t.within(aside)
	switch {
	case holdsOnly(aside) && isTaken: // the removal had not moved it yet
	case isTaken:
		return fail.Errorf(fail.Conflict, "%s is there, and a part of what was removed is in %s", human.Quote(t.Path), human.Quote(within)).
			Hint("name another folder: nbs-worker worktree restore %s --to DIR", t.Handle)
	case holdsOnly(aside) || holdsOnly(within): // it is deleted
		if err := os.Remove(within); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := t.forget(ctx); err != nil {
			return err
		}
	default:
		if err := t.relock(ctx, k.reason()); err != nil {
			return err
		}
		if err := os.Rename(within, t.Path); err != nil {
			return err
		}
	}
	return os.Remove(aside)
}

// checkout returns the command that makes the tree without files: on the old branch, if that is free and has not moved.
func (k *Kept) checkout(ctx context.Context, common git.Dir, path string) (args []string, err error) {
	args = []string{"worktree", "add", "--quiet", "--no-checkout", "--lock", "--reason", k.reason()}
	tip, err := common.Run(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+k.Branch+"^{commit}")
	if err != nil && git.Code(err) != 1 {
		return nil, err
	}
	all, err := entries(ctx, common)
	switch {
	case err != nil:
		return nil, err
	case tip == "":
		return append(args, "--no-track", "-b", k.Branch, path, k.Head), nil
	case tip == k.Head && !slices.ContainsFunc(all, func(e entry) bool { return e.branch == k.Branch }):
		return append(args, path, k.Branch), nil
	}
	return append(args, "--detach", path, k.Head), nil
}

// writeAll writes the files of the kept commit that are not in the tree.
func (k *Kept) writeAll(ctx context.Context, common git.Dir, path string) (count int, err error) {
	has, err := k.tree(ctx, common)
	if err != nil {
		return 0, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	names := make([]string, 0, len(has))
	var asked strings.Builder
	for name, o := range has {
		if slices.Contains(strings.Split(name, "/"), gitLink) {
			return 0, fail.Errorf(fail.Conflict, "%s has %s, which no removal has written", k.Ref, human.Quote(name))
		}
		names = append(names, name)
		asked.WriteString(o.sum + "\n")
	}
	in, out := io.Pipe()
	wrote := make(chan error, 1)
	go func() {
		said := bufio.NewReader(in)
		for _, name := range names {
			if err := writeObject(root, said, name, has[name]); err != nil {
				_ = in.CloseWithError(err)
				wrote <- err
				return
			}
		}
		wrote <- nil
	}()
	err = common.Pipe(ctx, strings.NewReader(asked.String()), out, "cat-file", "--batch")
	_ = out.CloseWithError(errors.Join(err, io.EOF))
	if failed := <-wrote; failed != nil {
		err = failed
	}
	return len(names), err
}

// writeObject writes one file from the output of git cat-file --batch.
func writeObject(root *os.Root, said *bufio.Reader, name string, o object) error {
	line, err := said.ReadString('\n')
	if err != nil {
		return err
	}
	words := strings.Fields(line)
	const fields = 3
	if len(words) != fields || words[0] != o.sum {
		return fail.Errorf(fail.Failed, "git cat-file printed %s", human.Quote(line))
	}
	size, err := strconv.ParseInt(words[fields-1], 10, 64)
	if err != nil {
		return err
	}
	content := io.LimitReader(said, size)
	if err := writeAs(root, content, name, o.mode); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, content); err != nil {
		return err
	}
	_, err = said.Discard(1) // the line break
	return err
}

// writeAs writes a file that only its user can read: it may be a secret, and git does not keep who could read it.
func writeAs(root *os.Root, content io.Reader, name, mode string) error {
	const plain, executable = 0o600, 0o700
	if err := root.MkdirAll(filepath.Dir(name), executable); err != nil {
		return err
	}
	switch mode {
	case modeLink:
		target, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		if there, err := root.Readlink(name); err == nil && there == string(target) {
			return nil
		}
		return root.Symlink(string(target), name)
	case modeExecutable:
		return writeRest(root, name, content, executable)
	case modePlain:
		return writeRest(root, name, content, plain)
	}
	return fmt.Errorf("%s has the mode %s", human.Quote(name), mode)
}

// writeRest writes a file. If it is there, as a killed restore has left it, only what is missing at its end is written.
func writeRest(root *os.Root, name string, content io.Reader, mode fs.FileMode) error {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return writeNew(root, name, content, mode)
	}
	if err != nil {
		return err
	}
	differs := fail.Errorf(fail.Conflict, "%s is there, and differs from what is kept", human.Quote(name))
	if !info.Mode().IsRegular() {
		return differs
	}
	file, err := root.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	here, kept := newSum(0), newSum(0)
	if _, err := io.Copy(here, file); err != nil {
		return err
	}
	if n, err := io.CopyN(kept, content, info.Size()); err != nil && !errors.Is(err, io.EOF) || n != info.Size() || !bytes.Equal(here.Sum(nil), kept.Sum(nil)) {
		return cmp.Or[error](err, differs)
	}
	_, err = io.Copy(file, content)
	return err
}

// IsThere reports whether the tree is in its place.
func (t *Tree) IsThere() bool { return folder.Exists(t.Path) }
