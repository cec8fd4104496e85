package private

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/platform/smallfile"
)

// Folder is a private folder in a project. It is opened once, and may be moved or removed while
// it is in use.
type Folder struct {
	*os.Root // nil where the folder is not made yet

	path string   // absolute
	dir  *os.File // the same as the root, for reading
}

// OpenFolder opens a folder that [Check] has accepted.
func OpenFolder(path string) (*Folder, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	dir, err := root.Open(".")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &Folder{Root: root, path: path, dir: dir}, nil
}

// Unmade returns a folder that is not made yet: it has a path and nothing in it.
func Unmade(path string) *Folder { return &Folder{path: path} }

// Made reports whether there is a folder.
func (f *Folder) Made() bool { return f.Root != nil }

// Close releases the folder.
func (f *Folder) Close() error {
	if f.Root == nil {
		return nil
	}
	return errors.Join(f.dir.Close(), f.Root.Close())
}

// Path returns the absolute path of what is in the folder.
func (f *Folder) Path(names ...string) string {
	return filepath.Join(append([]string{f.path}, names...)...)
}

// Label returns how messages name what is in the folder: ".nbs/journal.jsonl".
func (f *Folder) Label(name string) string { return filepath.Base(f.path) + "/" + name }

// Gone reports whether the folder that was opened is no longer at its path: it was removed or moved, even if
// another folder is there now.
func (f *Folder) Gone() bool {
	there, err := os.Lstat(f.path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	opened, err := f.dir.Stat()
	return err == nil && !os.SameFile(there, opened)
}

// Remedied is [Remedied] of the folder.
func (f *Folder) Remedied(err error) error { return Remedied(f.path, err) }

// Sync makes new entries of the folder itself durable.
func (f *Folder) Sync() error { return syncDir(f.Root) }

// Names lists a folder below, unsorted.
func (f *Folder) Names(sub string) ([]string, error) {
	dir, err := f.Open(sub)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

// Sweep removes the old files of a subfolder; isOld decides by name and age. A file that cannot be removed
// now is left for the next sweep.
func (f *Folder) Sweep(sub string, now time.Time, isOld func(name string, age time.Duration) bool) {
	names, _ := f.Names(sub)
	for _, name := range names {
		if info, err := f.Lstat(sub + "/" + name); err == nil && isOld(name, now.Sub(info.ModTime())) {
			_ = f.Remove(sub + "/" + name)
		}
	}
}

// below opens a folder below, as a descriptor; no link on the way is followed.
func (f *Folder) below(sub string) (fd int, err error) {
	if f.dir == nil {
		return 0, fs.ErrNotExist
	}
	at := int(f.dir.Fd())
	for name := range strings.SplitSeq(cmp.Or(sub, "."), "/") {
		fd, err = unix.Openat(at, name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_DIRECTORY, 0)
		if at != int(f.dir.Fd()) {
			_ = unix.Close(at)
		}
		if err != nil {
			return 0, err
		}
		at = fd
	}
	return fd, nil
}

// Read reads sub/name, at most limit bytes. Errors: [fs.ErrNotExist]; BadInput for a file that another user
// could have written.
func (f *Folder) Read(sub, name string, limit int) ([]byte, error) {
	dir, err := f.below(sub)
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	data, err := readOwn(dir, name, f.Path(sub, name), limit)
	if at, ok := errors.AsType[*fs.PathError](err); ok && !errors.Is(err, fs.ErrNotExist) {
		return nil, at.Err // what reads a file names it
	}
	return data, err
}

// OpenRegular opens a file below and no link to one: [os.Root] follows those that
// stay inside. Looking before opening keeps a planted FIFO from blocking us for ever.
func (f *Folder) OpenRegular(path string, flag int) (*os.File, error) {
	info, err := f.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0 {
		return f.OpenFile(path, flag|os.O_EXCL, 0o600)
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, smallfile.ErrIrregular
	}
	return f.OpenFile(path, flag|syscall.O_NONBLOCK, 0o600)
}
