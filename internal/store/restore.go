package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/private"
)

// restoredSuffix marks a copy that is not whole yet. Claude looks for *.jsonl.
const restoredSuffix = ".nbs"

// RestoreTranscript puts a kept transcript back to where its original was; the folder is
// there. What is at that path is never replaced. The file is private and counts as written
// now: Claude deletes those that were not written for some weeks. The caller holds the lease.
// What lies in the project is never put back: anybody may have written it. Errors: [fs.ErrExist].
func (s *Store) RestoreTranscript(kept Kept, path string) error {
	dir, err := s.archive().Open()
	if err != nil {
		return err
	}
	defer dir.Close()
	source, err := private.OpenOwn(int(dir.Fd()), filepath.Base(kept.Path))
	if err != nil {
		return err
	}
	defer source.Close()
	if err := source.Chmod(0o600); err != nil {
		return err
	}
	if err := linkOrCopy(source, path); err != nil {
		return private.Remedied(filepath.Dir(path), fmt.Errorf("put the transcript back: %w", err))
	}
	now := unix.NsecToTimespec(time.Now().UnixNano())
	return errors.Join(touch(path, now), private.SyncPath(filepath.Dir(path)))
}

func linkOrCopy(source *private.OwnFile, path string) error {
	err := linkTo(source, unix.AT_FDCWD, path)
	if cannotLink(err) {
		return restoreCopy(source, path)
	}
	if err != nil {
		return &os.LinkError{Op: "link", Old: source.Name(), New: path, Err: err}
	}
	return nil
}

// restoreCopy writes the copy under another name, and gives it its own when it is whole.
func restoreCopy(source *private.OwnFile, path string) error {
	temp := path + restoredSuffix
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = duplicate(f, source)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = renameNew(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
	}
	return err
}

// renameNew renames a file to a name that is free.
func renameNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // a file system that cannot, such as NFS
		if err = os.Link(from, to); err == nil {
			return os.Remove(from)
		}
		return err
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

func touch(path string, at unix.Timespec) error {
	times := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, at}
	return unix.UtimesNanoAt(unix.AT_FDCWD, path, times, unix.AT_SYMLINK_NOFOLLOW)
}

// Freshness is how a kept transcript compares with the original.
type Freshness string

// The ways in which an original can be kept.
const (
	NotKept   Freshness = "no"
	Linked    Freshness = "link"       // it is the original's second name
	CopyFresh Freshness = "copy"       // a copy, with all that the original has
	CopyStale Freshness = "stale copy" // the original has been written since
	OnlyCopy  Freshness = "only"       // the original is gone
	Longer    Freshness = "longer"     // the original has only a part of it
	Cut       Freshness = "cut"        // it is the original, and something was cut off that file
	Emptied   Freshness = "empty"      // it is the original, and there is nothing in it
)

// Freshness compares what is kept of a conversation with the transcript at path; "" when
// that is gone.
func (s *Store) Freshness(id agent.SessionID, path string) (Freshness, error) {
	all, err := s.Kept(id)
	if err != nil || len(all) == 0 {
		return NotKept, err
	}
	original, there := statOf(path)
	if !there {
		return OnlyCopy, nil
	}
	kept := all[0].stat
	switch {
	case sameFile(&kept, &original) && kept.Size == 0:
		return Emptied, nil
	case sameFile(&kept, &original):
		if cut, err := s.CutTranscript(id, path); err != nil || cut != nil {
			return Cut, err
		}
		return Linked, nil
	case upToDate(&kept, &original):
		return CopyFresh, nil
	case original.Size < kept.Size:
		if longer, err := all[0].GoesOn(path); err != nil || longer {
			return Longer, err
		}
	}
	return CopyStale, nil
}

func statOf(path string) (stat unix.Stat_t, there bool) {
	there = path != "" && unix.Stat(path, &stat) == nil
	return stat, there
}
