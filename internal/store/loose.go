package store

import (
	"io/fs"

	"nbs-worker/internal/store/private"
)

// Loose is a file or folder of .nbs that other users can reach. It is this user's, and no other could have written it.
type Loose struct {
	Path string // absolute
	Mode fs.FileMode
	name string // below .nbs
}

// Loose lists the files and folders of .nbs that others can reach; foreign has an error for each that another user
// owns or could have written. It does not follow links.
func (s *Store) Loose() (loose []Loose, foreign []error, err error) {
	err = fs.WalkDir(s.nbs.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it was just removed, or is another user's folder, which is listed
		}
		info, err := entry.Info()
		if err != nil || info.Mode().Type()&^fs.ModeDir != 0 {
			return nil //nolint:nilerr // the same; or a link or a pipe, whose mode means nothing
		}
		if err := private.CheckOwn(s.nbs.Path(name), info); err != nil {
			foreign = append(foreign, err)
		} else if info.Mode().Perm()&0o077 != 0 {
			loose = append(loose, Loose{Path: s.nbs.Path(name), Mode: info.Mode(), name: name})
		}
		return nil
	})
	return loose, foreign, err
}

// Tighten removes the rights of others.
func (s *Store) Tighten(l Loose) error { return s.nbs.Chmod(l.name, l.Mode.Perm()&0o700) }
