package archive

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/machine/portable"
	"nbs-worker/internal/store/private"
)

// keeper changes the kept transcripts of one conversation.
type keeper struct {
	dir *os.File // the archive
	id  agent.SessionID
}

func (k keeper) fd() int { return int(k.dir.Fd()) }

func (k keeper) name() string { return transcriptFile(k.id) }

// temp returns the temporary name of an unfinished file. A killed writer may have left one.
func (k keeper) temp() string { return "." + k.name() }

// put gives the original its second name, or makes the first copy. It replaces an existing file of that name, which
// the caller has checked.
func (k keeper) put(source *private.OwnFile) error {
	if err := k.clean(); err != nil {
		return err
	}
	err := k.linkOrCopy(source)
	if err == nil {
		err = unix.Renameat(k.fd(), k.temp(), k.fd(), k.name())
	}
	return errors.Join(err, k.clean()) // the rename of one file's two names leaves both
}

// linkOrCopy gives the original the temporary name, too.
func (k keeper) linkOrCopy(source *private.OwnFile) error {
	err := portable.LinkOpen(source.File, k.fd(), k.temp())
	if cannotLink(err) {
		return k.copyFrom(source)
	}
	return err
}

func (k keeper) clean() error {
	return private.IfThere(unix.Unlinkat(k.fd(), k.temp(), 0))
}

// update handles an original that is not the kept file: the original was replaced, or the kept file is a copy.
func (k keeper) update(kept, source *private.OwnFile) error {
	switch {
	case upToDate(&kept.Seen, &source.Seen), source.Seen.Size == 0:
		return nil // an emptied original must not replace the kept transcript
	case !continues(kept, source):
		if err := k.setAside(); err != nil {
			return err
		}
		return k.put(source)
	case kept.Seen.Dev != source.Seen.Dev && kept.Seen.Nlink == 1:
		return k.extend(kept, source)
	default:
		return k.put(source)
	}
}

// tailLength is how many bytes at the end of a transcript are compared. Its records carry ids and times, so
// no two transcripts end alike.
const tailLength = 64 << 10

// continues reports whether the source continues where the kept transcript ends.
func continues(kept, source *private.OwnFile) bool {
	size := kept.Seen.Size
	if source.Seen.Size < size {
		return false
	}
	length := min(size, tailLength)
	ours, theirs := make([]byte, length), make([]byte, length)
	_, err := kept.ReadAt(ours, size-length)
	_, err2 := source.ReadAt(theirs, size-length)
	return cmp.Or(err, err2) == nil && bytes.Equal(ours, theirs)
}

// setAside gives the kept transcript another, free name.
func (k keeper) setAside() error {
	for n := range asideLimit {
		err := unix.Linkat(k.fd(), k.name(), k.fd(), asideFile(k.id, n+1), 0)
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EOPNOTSUPP) { // no links here
			err = portable.RenameNew(k.fd(), k.name(), k.fd(), asideFile(k.id, n+1))
		}
		if !errors.Is(err, unix.EEXIST) {
			return err
		}
		if k.isAside(n + 1) { // by a process that was killed in between
			return nil
		}
	}
	return errors.New("too many versions of it are already kept")
}

// isAside reports whether the kept transcript also has the n-th name of the transcripts set aside.
func (k keeper) isAside(n int) bool {
	var kept, aside unix.Stat_t
	err := unix.Fstatat(k.fd(), k.name(), &kept, unix.AT_SYMLINK_NOFOLLOW)
	err2 := unix.Fstatat(k.fd(), asideFile(k.id, n), &aside, unix.AT_SYMLINK_NOFOLLOW)
	return cmp.Or(err, err2) == nil && sameFile(&kept, &aside)
}

// copyFrom makes the first copy, under the temporary name. It has the original's time, and
// so is never taken for newer than it is.
func (k keeper) copyFrom(source *private.OwnFile) error {
	f, cloned, err := portable.CreateClone(k.fd(), k.temp(), source.File)
	if err != nil {
		return err
	}
	return duplicate(f, cloned, source)
}

// duplicate makes a new file a durable copy of the source as it was when it was opened. cloned means that the file shares
// the blocks of the source already.
func duplicate(f *os.File, cloned bool, source *private.OwnFile) (err error) {
	defer func() { err = errors.Join(err, f.Close()) }()
	if !cloned {
		if _, err := io.Copy(f, io.NewSectionReader(source, 0, source.Seen.Size)); err != nil {
			return err
		}
	} else if err := f.Truncate(source.Seen.Size); err != nil { // what came after the look at its time
		return err
	}
	if err := portable.SetModified(f, portable.ModifiedOf(&source.Seen)); err != nil {
		return err
	}
	return f.Sync()
}

// extend appends to a copy what the original has more. When it is killed in between, the copy is
// shorter than the original and the next call extends it; on a full disk the copy stays as it was.
func (k keeper) extend(kept, source *private.OwnFile) error {
	fd, err := unix.Openat(k.fd(), k.name(), unix.O_WRONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), k.name())
	at, size := kept.Seen.Size, source.Seen.Size
	_, err = f.Seek(at, io.SeekStart)
	if err == nil {
		_, err = io.Copy(f, io.NewSectionReader(source, at, size-at))
	}
	if err == nil {
		return errors.Join(portable.SetModified(f, portable.ModifiedOf(&source.Seen)), f.Close())
	}
	return errors.Join(err, f.Truncate(at), portable.SetModified(f, portable.ModifiedOf(&kept.Seen)), f.Close())
}

// cannotLink reports whether a file can only be copied there: to another file system, on one
// without links, or with too many.
func cannotLink(err error) bool {
	known := []error{unix.EXDEV, unix.EPERM, unix.EMLINK, unix.EOPNOTSUPP, unix.ENOSYS}
	return slices.ContainsFunc(known, func(one error) bool { return errors.Is(err, one) })
}
