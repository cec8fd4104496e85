package worktree

import (
	"bufio"
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

// Restore brings back the tree of an agent as it was removed, at a time of [Kept.When] or the last one, in its old place
// or another one. The kept commit stays. Errors: NotFound if nothing is kept; Conflict if the place is taken.
func Restore(ctx context.Context, project string, handle agent.Handle, at, to string) (done Restored, err error) {
	_, shared, err := repository(ctx, project)
	if err != nil {
		return done, err
	}
	common := git.Dir(shared)
	if done.Kept, err = choose(ctx, shared, handle, at); err != nil {
		return done, err
	}
	k := &done.Kept
	done.Path = k.Path
	if to != "" {
		done.Path = to
	}
	if _, err := os.Lstat(done.Path); !errors.Is(err, fs.ErrNotExist) {
		return done, errors.Join(fail.Errorf(fail.Conflict, "%s is there already", human.Quote(done.Path)).
			Hint("name another folder: nbs-worker worktree restore %s --to DIR", handle), err)
	}
	const private = 0o700
	if err := os.MkdirAll(filepath.Dir(done.Path), private); err != nil {
		return done, err
	}
	args, branch, err := k.checkout(ctx, common, done.Path)
	if err != nil {
		return done, err
	}
	if _, err := common.Run(ctx, args...); err != nil {
		return done, err
	}
	done.Branch = branch
	if _, err := git.Dir(done.Path).Run(ctx, "read-tree", "HEAD"); err != nil {
		return done, err
	}
	if done.Files, err = k.writeAll(ctx, common, done.Path); err != nil {
		return done, fail.Errorf(fail.KindOf(err), "write its files to %s: %w", human.Quote(done.Path), err).
			Hint("all of them are in %s", k.Ref)
	}
	_, err = git.Dir(done.Path).Run(ctx, "update-index", "-q", "--refresh")
	if git.Code(err) == 1 { // a file differs from the commit
		err = nil
	}
	return done, err
}

func choose(ctx context.Context, common string, handle agent.Handle, at string) (Kept, error) {
	all, err := KeptTrees(ctx, common, handle)
	if err != nil {
		return Kept{}, err
	}
	i := slices.IndexFunc(all, func(k Kept) bool { return at == "" || k.When() == at })
	if i < 0 {
		return Kept{}, notKept(handle)
	}
	return all[i], nil
}

// checkout returns the command that makes the tree without files, and its branch: the old one, if it is free and has
// not moved.
func (k *Kept) checkout(ctx context.Context, common git.Dir, path string) (args []string, branch string, err error) {
	args = []string{"worktree", "add", "--quiet", "--no-checkout"}
	tip, err := common.Run(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+k.Branch+"^{commit}")
	if err != nil && git.Code(err) != 1 {
		return nil, "", err
	}
	all, err := entries(ctx, common)
	switch {
	case err != nil:
		return nil, "", err
	case tip == "":
		return append(args, "--no-track", "-b", k.Branch, path, k.Head), k.Branch, nil
	case tip == k.Head && !slices.ContainsFunc(all, func(e entry) bool { return e.branch == k.Branch }):
		return append(args, path, k.Branch), k.Branch, nil
	}
	return append(args, "--detach", path, k.Head), "", nil
}

// writeAll writes all files of the kept commit into a tree without files.
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
	head, err := (&Kept{Ref: k.Head}).tree(ctx, common)
	if err != nil {
		return 0, err
	}
	names := make([]string, 0, len(has))
	var asked strings.Builder
	for name, o := range has {
		names = append(names, name)
		asked.WriteString(o.sum + "\n")
	}
	in, out := io.Pipe()
	wrote := make(chan error, 1)
	go func() {
		said := bufio.NewReader(in)
		for _, name := range names {
			_, tracked := head[name]
			if err := writeObject(root, said, name, has[name], tracked); err != nil {
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

// writeObject writes one file from the output of git cat-file --batch. A file that was in no commit may be a secret:
// only its user can read it.
func writeObject(root *os.Root, said *bufio.Reader, name string, o object, tracked bool) error {
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
	if err := writeAs(root, content, name, o.mode, tracked); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, content); err != nil {
		return err
	}
	_, err = said.Discard(1) // the line break
	return err
}

func writeAs(root *os.Root, content io.Reader, name, mode string, tracked bool) error {
	var folderMode, plain fs.FileMode = 0o777, 0o666 // less the umask
	if !tracked {
		folderMode, plain = 0o700, 0o600
	}
	if err := root.MkdirAll(filepath.Dir(name), folderMode); err != nil {
		return err
	}
	switch mode {
	case modeLink:
		target, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		return root.Symlink(string(target), name)
	case modeExecutable:
		return writeNew(root, name, content, plain|plain>>2&0o111)
	case modePlain:
		return writeNew(root, name, content, plain)
	}
	return fmt.Errorf("%s has the mode %s", human.Quote(name), mode)
}

// IsThere reports whether the tree is in its place.
func (t *Tree) IsThere() bool { return folder.Exists(t.Path) }
