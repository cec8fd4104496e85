package store

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"nbs-worker/internal/store/private"
)

// Loose is a file or folder of .nbs that is not as private as we make them.
type Loose struct {
	Path  string // absolute
	Mode  fs.FileMode
	Owner uint32
	name  string // below .nbs
}

// Loose lists the files and folders of .nbs that others can reach or own. It does not follow links.
func (s *Store) Loose() ([]Loose, error) {
	var loose []Loose
	err := fs.WalkDir(s.nbs.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it was just removed, or is another user's folder, which is listed
		}
		info, err := entry.Info()
		if err != nil || info.Mode().Type()&^fs.ModeDir != 0 {
			return nil //nolint:nilerr // the same; or a link or a pipe, whose mode means nothing
		}
		owner := info.Sys().(*syscall.Stat_t).Uid
		if int(owner) != os.Geteuid() || info.Mode().Perm()&0o077 != 0 {
			loose = append(loose, Loose{Path: filepath.Join(s.Folder(), name), Mode: info.Mode(), Owner: owner, name: name})
		}
		return nil
	})
	return loose, err
}

// Own reports whether the file is this user's and no other user could have written it.
func (l Loose) Own() bool { return int(l.Owner) == os.Geteuid() && l.Mode.Perm()&0o022 == 0 }

// TakeOver returns the remedy for a file of another owner.
func (l Loose) TakeOver() string { return private.TakeOver(l.Path, l.Owner) }

// Tighten removes the rights of others.
func (s *Store) Tighten(l Loose) error { return s.nbs.Chmod(l.name, l.Mode.Perm()&0o700) }
