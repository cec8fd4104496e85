package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/smallfile"
)

// tree is a private folder of the user's outside of every project: what is in a project, an
// agent that may edit files there can write. It is opened anew for each look or change, since
// a launcher lives for weeks and a person may move such a folder.
type tree string

// noTree is a tree of which nobody knows where it would be.
const noTree tree = ""

// errNoTree is the error for what has to be written outside of the project, or sealed with the
// key that is there.
var errNoTree = agent.Errorf(agent.Unfit, "there is no folder for the user's state: neither XDG_STATE_HOME nor HOME is an absolute path").
	Hint("name one: export XDG_STATE_HOME=/path/of/yours")

// path is the path of what is in the tree.
func (t tree) path(name string) string { return filepath.Join(string(t), name) }

// make makes the tree, with the folders above it. Errors: Unfit.
func (t tree) make() error {
	if t == noTree {
		return errNoTree
	}
	err := os.MkdirAll(string(t), 0o700)
	if err == nil {
		return nil
	}
	return agent.Errorf(agent.Unfit, "make the folder %s: %w", agent.Quote(string(t)), remediedAt(existing(string(t)), err)).
		Hint("it is for what no project may hold; name another place: export XDG_STATE_HOME=/path/of/yours")
}

// made opens the tree, which is made where it is not there.
func (t tree) made() (*os.File, error) {
	if err := t.make(); err != nil {
		return nil, err
	}
	return t.open()
}

// existing is the nearest folder upward that is there.
func existing(path string) string {
	for ; path != filepath.Dir(path); path = filepath.Dir(path) {
		if _, err := os.Lstat(path); err == nil {
			break
		}
	}
	return path
}

// open opens the tree. Errors: [fs.ErrNotExist]; BadInput when it is not this user's alone.
func (t tree) open() (*os.File, error) {
	if t == noTree {
		return nil, fs.ErrNotExist
	}
	fd, err := unix.Open(string(t), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil, agent.Errorf(agent.BadInput, "%s is not a folder", agent.Quote(string(t))).
			Hint("look at what it is: ls -ld %s", shellWord(string(t)))
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: string(t), Err: err}
	}
	dir := os.NewFile(uintptr(fd), string(t))
	if err := checkAlone(dir); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return dir, nil
}

// checkAlone refuses a folder that is another's, or that others can look into.
func checkAlone(dir *os.File) error {
	info, err := dir.Stat()
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	if int(owner) == os.Geteuid() && info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if int(owner) == os.Geteuid() && info.Mode().Perm()&0o022 == 0 {
		return agent.Errorf(agent.BadInput, "%s can be read by other users (mode %04o)", agent.Quote(dir.Name()), info.Mode().Perm()).
			Hint("it is for this user alone: chmod 700 %s", shellWord(dir.Name()))
	}
	return foreign(dir.Name(), owner, info.Mode())
}

// in changes something in the tree, which is made before.
func (t tree) in(change func(dir *os.Root, at *os.File) error) error {
	at, err := t.made()
	if err != nil {
		return err
	}
	defer at.Close()
	dir, err := os.OpenRoot(procPath(at)) // the very folder that was looked at
	if err != nil {
		return err
	}
	defer dir.Close()
	return change(dir, at)
}

// names lists the tree, unsorted; nothing when it is not there.
func (t tree) names() ([]string, error) {
	dir, err := t.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

// stat looks at a file, and not through a link.
func (t tree) stat(name string) (unix.Stat_t, error) {
	dir, err := t.open()
	if err != nil {
		return unix.Stat_t{}, err
	}
	defer dir.Close()
	var stat unix.Stat_t
	err = unix.Fstatat(int(dir.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW)
	return stat, err
}

// read reads a file of at most limit bytes. Errors: [fs.ErrNotExist]; those of openOwn.
func (t tree) read(name string, limit int) (data []byte, err error) {
	dir, err := t.open()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	f, err := openOwn(int(dir.Fd()), name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.stat.Size > int64(limit) {
		return nil, smallfile.TooLargeError(limit)
	}
	return io.ReadAll(io.LimitReader(f, int64(limit)))
}

// handOver replaces a file as [Store.handOver] does.
func (t tree) handOver(name string, value any, limit int) error {
	data, err := encode(t.path(name), value, limit)
	if err != nil {
		return err
	}
	return t.in(func(dir *os.Root, _ *os.File) error {
		if err := replace(dir, name, data); err != nil {
			return t.remedied(fmt.Errorf("write %s: %w", t.path(name), err))
		}
		return nil
	})
}

// remove deletes files; those that are not there are no error.
func (t tree) remove(names ...string) error {
	dir, err := t.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	var errs []error
	for _, name := range names {
		if err := unix.Unlinkat(int(dir.Fd()), name, 0); err != nil && !errors.Is(err, unix.ENOENT) {
			errs = append(errs, t.remedied(&os.PathError{Op: "remove", Path: t.path(name), Err: err}))
		}
	}
	return errors.Join(errs...)
}

// lock waits for the lock of the tree, a file beside it.
func (t tree) lock(ctx context.Context) (unlock func(), err error) {
	dir, err := t.made()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	ctx, cancel := context.WithTimeout(ctx, recordLockWait)
	defer cancel()
	path := string(t) + ".lock"
	lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW), flock.SetPermissions(0o600))
	if err := lockWithin(ctx, lock); err != nil {
		return nil, agent.Errorf(agent.Failed, "lock %s: %w", path, t.remedied(err))
	}
	return func() { _ = lock.Close() }, nil
}

func (t tree) remedied(err error) error { return remediedAt(string(t), err) }

// CheckOutside tells what keeps the user's folders outside of the project from being used; it
// changes nothing.
func (s *Store) CheckOutside() []error {
	if s.home == "" {
		return []error{errNoTree}
	}
	var errs []error
	for _, t := range []tree{s.archive(), s.heads(), s.launches()} {
		dir, err := t.open()
		if err == nil {
			_ = dir.Close()
		} else if !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
			continue
		}
		at := existing(string(t))
		if err := unix.Access(at, unix.W_OK); err != nil {
			errs = append(errs, remediedAt(at, fmt.Errorf("nothing can be written in %s: %w", agent.Quote(at), err)))
		}
	}
	return errs
}
