package worktree

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"nbs-worker/internal/platform/git"
)

// includeFile names the ignored files of the main tree that each worktree gets a copy of, in git's language of
// patterns.
const includeFile = ".worktreeinclude"

// included returns the ignored files of a tree that the main tree's list names.
func included(ctx context.Context, tree, main string) ([]string, error) {
	patterns := filepath.Join(main, includeFile)
	if _, err := os.Lstat(patterns); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	ask := func(args ...string) ([]string, error) {
		var said bytes.Buffer
		err := git.Dir(tree).Pipe(ctx, nil, &said, append([]string{"ls-files", "-z", "--others", "--ignored"}, args...)...)
		if err != nil || said.Len() == 0 {
			return nil, err
		}
		return strings.Split(strings.TrimSuffix(said.String(), "\x00"), "\x00"), nil
	}
	matched, err := ask("--exclude-from=" + patterns)
	if err != nil || len(matched) == 0 {
		return nil, err
	}
	ignored, err := ask("--exclude-standard")
	if err != nil {
		return nil, err
	}
	isIgnored := map[string]bool{}
	for _, name := range ignored {
		isIgnored[name] = true
	}
	var both []string
	for _, name := range matched {
		if isIgnored[name] {
			both = append(both, name)
		}
	}
	return both, nil
}

// Copy copies the files that .worktreeinclude names into a new tree. It overwrites none, and follows no link.
func (p *Plan) Copy(ctx context.Context) (copied []string, err error) {
	names, err := included(ctx, p.Main, p.Main)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	from, err := os.OpenRoot(p.Main)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	to, err := os.OpenRoot(p.Path)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	for _, name := range names {
		done, err := copyFile(from, to, name)
		if err != nil {
			return copied, err
		}
		if done {
			copied = append(copied, name)
		}
	}
	return copied, nil
}

// copyFile copies a file or a link. It returns false if the new tree has one already.
func copyFile(from, to *os.Root, name string) (bool, error) {
	if _, err := to.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	info, err := from.Lstat(name)
	if err != nil {
		return false, err
	}
	mode, err := modeOf(info)
	if err != nil {
		return false, nil // a socket is nothing to copy
	}
	const private = 0o700
	if err := to.MkdirAll(filepath.Dir(name), private); err != nil {
		return false, err
	}
	if mode == modeLink {
		target, err := from.Readlink(name)
		if err == nil {
			err = to.Symlink(target, name)
		}
		return err == nil, err
	}
	in, err := from.Open(name)
	if err != nil {
		return false, err
	}
	defer in.Close()
	return true, writeNew(to, name, in, info.Mode().Perm())
}

// writeNew writes a file that is not there yet.
func writeNew(to *os.Root, name string, in io.Reader, mode fs.FileMode) error {
	out, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// changedCopies returns the files of .worktreeinclude that differ from those of the main tree, or that it has not.
func (t *Tree) changedCopies(ctx context.Context) (names []string, err error) {
	main, _, err := repository(ctx, t.Project)
	if err != nil {
		return nil, err
	}
	all, err := included(ctx, t.Path, main)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	here, err := os.OpenRoot(t.Path)
	if err != nil {
		return nil, err
	}
	defer here.Close()
	there, err := os.OpenRoot(main)
	if err != nil {
		return nil, err
	}
	defer there.Close()
	for _, name := range all {
		a, err := sumOf(here, name)
		if err != nil {
			return nil, err
		}
		b, err := sumOf(there, name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && a != b {
			names = append(names, name)
		} else if err != nil {
			return nil, err
		}
	}
	return names, nil
}

func sumOf(root *os.Root, name string) (object, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return object{}, err
	}
	f := file{name: name, info: info}
	if f.mode, err = modeOf(info); err != nil {
		return object{}, err
	}
	sum, err := f.sum(root, 0)
	return object{f.mode, sum}, err
}

// isLinked reports whether a name in the tree is a link to the same name in the main tree, as setup makes it.
func (t *Tree) isLinked(ctx context.Context, name string) bool {
	target, err := os.Readlink(filepath.Join(t.Path, name))
	if err != nil {
		return false
	}
	main, _, err := repository(ctx, t.Project)
	return err == nil && target == filepath.Join(main, name)
}
