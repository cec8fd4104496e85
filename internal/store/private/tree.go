package private

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/machine/portable"
	"nbs-worker/internal/store/trust"
)

// Tree is a private folder of the user outside of every project: an agent that may edit the project's files
// could write to a folder inside. It is reopened for each read or change, since a launcher runs for weeks and
// the user may move the folder.
type Tree string

// NoTree is a tree whose place is not known.
const NoTree Tree = ""

// Path returns the path of what is in the tree.
func (t Tree) Path(name string) string { return filepath.Join(string(t), name) }

// Make makes the tree, with the folders above it. Errors: Unfit.
func (t Tree) Make() error {
	if t == NoTree {
		return trust.ErrNoHome
	}
	err := os.MkdirAll(string(t), 0o700)
	if err == nil {
		return nil
	}
	return fail.Errorf(fail.Unfit, "make the folder %s: %w", human.Quote(string(t)), Remedied(existing(string(t)), err)).
		Hint("nbs-worker keeps its own files there; to use another folder: export XDG_STATE_HOME=/path/of/yours")
}

// made opens the tree, and creates it first if it is missing.
func (t Tree) made() (*os.File, error) {
	if err := t.Make(); err != nil {
		return nil, err
	}
	return t.Open()
}

// existing returns the nearest existing folder at or above a path.
func existing(path string) string {
	for ; path != filepath.Dir(path); path = filepath.Dir(path) {
		if _, err := os.Lstat(path); err == nil {
			break
		}
	}
	return path
}

// Open opens the tree. Errors: [fs.ErrNotExist]; BadInput when it is not this user's alone.
func (t Tree) Open() (*os.File, error) {
	if t == NoTree {
		return nil, fs.ErrNotExist
	}
	fd, err := unix.Open(string(t), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil, fail.Errorf(fail.BadInput, "%s is not a folder", human.Quote(string(t))).
			Hint("look at it: ls -ld %s", human.ShellWord(string(t)))
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

// checkAlone refuses a folder that belongs to another user, or that others can read.
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
		return fail.Errorf(fail.BadInput, "%s can be read by other users (mode %04o)", human.Quote(dir.Name()), info.Mode().Perm()).
			Hint("make it private: chmod 700 %s", human.ShellWord(dir.Name()))
	}
	return foreign(dir.Name(), owner, info.Mode())
}

// In calls change with the tree open, and creates the tree first if it is missing.
func (t Tree) In(change func(dir *os.Root, at *os.File) error) error {
	at, err := t.made()
	if err != nil {
		return err
	}
	defer at.Close()
	dir, err := os.OpenRoot(portable.PathOf(at)) // the very folder that was looked at
	if err != nil {
		return err
	}
	defer dir.Close()
	return change(dir, at)
}

// Names lists the tree, unsorted. The list is empty if the tree does not exist.
func (t Tree) Names() ([]string, error) {
	dir, err := t.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

// Stat returns the state of a file. It does not follow a link.
func (t Tree) Stat(name string) (unix.Stat_t, error) {
	dir, err := t.Open()
	if err != nil {
		return unix.Stat_t{}, err
	}
	defer dir.Close()
	var stat unix.Stat_t
	err = unix.Fstatat(int(dir.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW)
	return stat, err
}

// Read reads a file of at most limit bytes. Errors: [fs.ErrNotExist]; those of OpenOwn.
func (t Tree) Read(name string, limit int) ([]byte, error) {
	dir, err := t.Open()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return readOwn(int(dir.Fd()), name, t.Path(name), limit)
}

// HandOver replaces a file as [Folder.HandOver] does.
func (t Tree) HandOver(name string, value any, limit int) error {
	data, err := encode(t.Path(name), value, limit)
	if err != nil {
		return err
	}
	return t.HandOverText(name, data)
}

// HandOverText is HandOver of a text.
func (t Tree) HandOverText(name string, text []byte) error {
	return t.In(func(dir *os.Root, _ *os.File) error {
		if err := replace(dir, name, text); err != nil {
			return t.Remedied(fmt.Errorf("write %s: %w", t.Path(name), err))
		}
		return nil
	})
}

// Write replaces a file as [Folder.Write] does.
func (t Tree) Write(name string, text []byte) error {
	return t.In(func(dir *os.Root, _ *os.File) error { return writeDurably(dir, name, t.Path(name), text, t.Remedied) })
}

// Remove deletes files. A missing file is not an error.
func (t Tree) Remove(names ...string) error {
	dir, err := t.Open()
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
			errs = append(errs, t.Remedied(&os.PathError{Op: "remove", Path: t.Path(name), Err: err}))
		}
	}
	return errors.Join(errs...)
}

// Sweep is [Folder.Sweep] of the tree.
func (t Tree) Sweep(now time.Time, isOld func(name string, age time.Duration) bool) {
	names, _ := t.Names()
	for _, name := range names {
		if stat, err := t.Stat(name); err == nil && isOld(name, now.Sub(time.Unix(stat.Mtim.Unix()))) {
			_ = t.Remove(name)
		}
	}
}

// Lock waits for the lock of the tree, a file beside it.
func (t Tree) Lock(ctx context.Context) (unlock func(), err error) {
	dir, err := t.made()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return LockFile(ctx, string(t)+".lock")
}

// TryLock takes a lock that is a file of the tree. It returns nil if another process has it.
func (t Tree) TryLock(name string) (*os.File, error) {
	dir, err := t.made()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	fd, err := unix.Openat(int(dir.Fd()), name, unix.O_CREAT|unix.O_RDWR|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: t.Path(name), Err: err}
	}
	lock := os.NewFile(uintptr(fd), t.Path(name))
	if err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err == nil {
		return lock, nil
	}
	_ = lock.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, nil
	}
	return nil, os.NewSyscallError("flock", err)
}

// Remedied is [Remedied] of the tree.
func (t Tree) Remedied(err error) error { return Remedied(string(t), err) }

// CheckWritable returns the error that keeps the tree from being used; it changes nothing.
func (t Tree) CheckWritable() error {
	dir, err := t.Open()
	if err == nil {
		_ = dir.Close()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	at := existing(string(t))
	if err := unix.Access(at, unix.W_OK); err != nil {
		return Remedied(at, fmt.Errorf("cannot write in %s: %w", human.Quote(at), err))
	}
	return nil
}
