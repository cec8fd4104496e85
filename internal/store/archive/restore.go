package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/platform/machine/portable"
	"nbs-worker/internal/store/private"
)

// restoredSuffix marks a copy that is not whole yet. Claude looks for *.jsonl.
const restoredSuffix = ".nbs"

// Restore puts a kept transcript back at the path of its original, whose folder exists. It never replaces a file.
// The restored file is private and has the present time, because Claude deletes files that were not written for some
// weeks. The caller holds the lease. Errors: [fs.ErrExist].
func (a *Archive) Restore(kept Kept, path string) error {
	dir, err := a.kept.Open()
	if err != nil {
		return err
	}
	defer dir.Close()
	source, err := private.OpenOwn(dir, filepath.Base(kept.Path))
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
	return errors.Join(portable.Touch(path), private.SyncPath(filepath.Dir(path)))
}

func linkOrCopy(source *private.OwnFile, path string) error {
	err := portable.LinkOpen(source.File, unix.AT_FDCWD, path)
	if cannotLink(err) {
		return restoreCopy(source, path)
	}
	if err != nil {
		return &os.LinkError{Op: "link", Old: source.Name(), New: path, Err: err}
	}
	return nil
}

// restoreCopy writes the copy under another name, and renames it when it is complete.
func restoreCopy(source *private.OwnFile, path string) error {
	temp := path + restoredSuffix
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, cloned, err := portable.CreateClone(unix.AT_FDCWD, temp, source.File)
	if err != nil {
		return err
	}
	if err = duplicate(f, cloned, source); err == nil {
		err = renameNew(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
	}
	return err
}

// renameNew renames a file to a name that is free.
func renameNew(from, to string) error {
	err := portable.RenameNew(unix.AT_FDCWD, from, unix.AT_FDCWD, to)
	if errors.Is(err, errors.ErrUnsupported) {
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
