package store

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/smallfile"
)

// ownFile is an open regular file of this user.
type ownFile struct {
	*os.File

	stat unix.Stat_t // before anything was read
}

// openOwn opens a file for reading and no link to one; a pipe in its place is not waited for.
// Errors: [fs.ErrNotExist], [smallfile.ErrIrregular], BadInput.
func openOwn(dir int, path string) (*ownFile, error) {
	fd, err := unix.Openat(dir, path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) { // a link; a socket
		err = smallfile.ErrIrregular
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	f := &ownFile{File: os.NewFile(uintptr(fd), path)}
	if err := unix.Fstat(fd, &f.stat); err != nil {
		return nil, errors.Join(&os.PathError{Op: "stat", Path: path, Err: err}, f.Close())
	}
	if f.stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, errors.Join(&os.PathError{Op: "open", Path: path, Err: smallfile.ErrIrregular}, f.Close())
	}
	if int(f.stat.Uid) != os.Geteuid() {
		foreign := agent.Errorf(agent.BadInput, "%s belongs to user id %d, not to this user (%d)", agent.Quote(path), f.stat.Uid, os.Geteuid())
		return nil, errors.Join(foreign, f.Close())
	}
	return f, nil
}

// keeper changes what is kept of one conversation.
type keeper struct {
	dir *os.File // the archive
	id  agent.SessionID
}

func (k keeper) fd() int { return int(k.dir.Fd()) }

func (k keeper) name() string { return transcriptFile(k.id) }

// temp is the name of what is not done yet. A writer that was killed may have left one.
func (k keeper) temp() string { return "." + k.name() }

// put gives the original its second name, or makes the first copy. What has that name is
// replaced, and was looked at before.
func (k keeper) put(source *ownFile) error {
	if err := k.clean(); err != nil {
		return err
	}
	err := linkTo(source, k.fd(), k.temp())
	if cannotLink(err) {
		err = k.copyFrom(source)
	}
	if err == nil {
		err = unix.Renameat(k.fd(), k.temp(), k.fd(), k.name())
	}
	return errors.Join(err, k.clean()) // the rename of one file's two names leaves both
}

func (k keeper) clean() error {
	if err := unix.Unlinkat(k.fd(), k.temp(), 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	return nil
}

// update follows an original that is not what is kept: it was replaced, or ours is a copy.
func (k keeper) update(kept, source *ownFile) error {
	switch {
	case upToDate(&kept.stat, &source.stat), source.stat.Size == 0:
		return nil // what was emptied is no reason to give up what is here
	case !continues(kept, source):
		if err := k.setAside(); err != nil {
			return err
		}
		return k.put(source)
	case kept.stat.Dev != source.stat.Dev && kept.stat.Nlink == 1:
		return k.extend(kept, source)
	default:
		return k.put(source)
	}
}

// tailLength is how much of the end of a transcript, in bytes, tells it from any other: its
// records carry ids and times.
const tailLength = 64 << 10

// continues tells whether the source goes on where what is kept ends.
func continues(kept, source *ownFile) bool {
	size := kept.stat.Size
	if source.stat.Size < size {
		return false
	}
	length := min(size, tailLength)
	ours, theirs := make([]byte, length), make([]byte, length)
	_, err := kept.ReadAt(ours, size-length)
	_, err2 := source.ReadAt(theirs, size-length)
	return cmp.Or(err, err2) == nil && bytes.Equal(ours, theirs)
}

// setAside gives what is kept another name, which is free.
func (k keeper) setAside() error {
	for n := range asideLimit {
		err := unix.Linkat(k.fd(), k.name(), k.fd(), asideFile(k.id, n+1), 0)
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EOPNOTSUPP) { // no links here
			err = unix.Renameat2(k.fd(), k.name(), k.fd(), asideFile(k.id, n+1), unix.RENAME_NOREPLACE)
		}
		if !errors.Is(err, unix.EEXIST) || k.isAside(n+1) {
			if errors.Is(err, unix.EEXIST) { // by one who was killed before he went on
				return nil
			}
			return err
		}
	}
	return errors.New("too many versions of it are kept already")
}

// isAside tells whether what is kept has that name too.
func (k keeper) isAside(n int) bool {
	var kept, aside unix.Stat_t
	err := unix.Fstatat(k.fd(), k.name(), &kept, unix.AT_SYMLINK_NOFOLLOW)
	err2 := unix.Fstatat(k.fd(), asideFile(k.id, n), &aside, unix.AT_SYMLINK_NOFOLLOW)
	return cmp.Or(err, err2) == nil && sameFile(&kept, &aside)
}

// copyFrom makes the first copy, under the temporary name. It has the original's time, and
// so is never taken for newer than it is.
func (k keeper) copyFrom(source *ownFile) error {
	fd, err := unix.Openat(k.fd(), k.temp(), unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), k.temp())
	err = duplicate(f, source)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// duplicate makes a new file as the source was when it was opened; on a file system that can
// share blocks it shares them.
func duplicate(f *os.File, source *ownFile) error {
	if unix.IoctlFileClone(int(f.Fd()), int(source.Fd())) != nil {
		if _, err := io.Copy(f, io.NewSectionReader(source, 0, source.stat.Size)); err != nil {
			return err
		}
	} else if err := f.Truncate(source.stat.Size); err != nil { // what came after the look at its time
		return err
	}
	return setModified(f, source.stat.Mtim)
}

func setModified(f *os.File, at unix.Timespec) error {
	times := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, at}
	return unix.UtimesNanoAt(unix.AT_FDCWD, procPath(f), times, 0)
}

// extend appends to a copy what the original has more. One that is cut short in between is
// shorter than the original and is extended by the next; on a disk that is full the copy
// stays as it was.
func (k keeper) extend(kept, source *ownFile) error {
	fd, err := unix.Openat(k.fd(), k.name(), unix.O_WRONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), k.name())
	at, size := kept.stat.Size, source.stat.Size
	_, err = f.Seek(at, io.SeekStart)
	if err == nil {
		_, err = io.Copy(f, io.NewSectionReader(source, at, size-at))
	}
	if err == nil {
		return errors.Join(setModified(f, source.stat.Mtim), f.Close())
	}
	return errors.Join(err, f.Truncate(at), setModified(f, kept.stat.Mtim), f.Close())
}

// linkTo gives the very file that was opened, and looked at, another name.
func linkTo(f *ownFile, dir int, name string) error {
	return unix.Linkat(unix.AT_FDCWD, procPath(f.File), dir, name, unix.AT_SYMLINK_FOLLOW)
}

// cannotLink tells whether a file can only be copied there: to another file system, on one
// without links, or with too many.
func cannotLink(err error) bool {
	for _, known := range []error{unix.EXDEV, unix.EPERM, unix.EMLINK, unix.EOPNOTSUPP, unix.ENOSYS} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

func cmpKept(a, b Kept, first string) int {
	isFirst := func(k Kept) int {
		if filepath.Base(k.Path) == first {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(isFirst(a), isFirst(b)), cmp.Compare(b.Size, a.Size))
}
