package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/queue"
)

// Leftover is a file that a killed process has left: half written, or never taken.
type Leftover struct {
	Path string // absolute
	Age  time.Duration
	in   private.Tree // the tree it is in, if outside of the project; private.NoTree if inside
	name string       // there, or below .nbs
}

// Leftovers lists temporary files and launch files that are older than the age.
func (s *Store) Leftovers(now time.Time, age time.Duration) []Leftover {
	var left []Leftover
	add := func(l Leftover, modified time.Time) {
		if l.Age = now.Sub(modified); l.Age > age {
			left = append(left, l)
		}
	}
	for _, sub := range []string{sessions, statuses, private.Locks, queue.Folder} {
		names, _ := s.nbs.Names(sub) // a folder that is missing has none
		for _, name := range names {
			name = sub + "/" + name
			if info, err := s.nbs.Lstat(name); err == nil && info.Mode().IsRegular() && isTemporary(filepath.Base(name)) {
				add(Leftover{Path: s.Folder() + "/" + name, name: name}, info.ModTime())
			}
		}
	}
	launches := s.launches()
	names, _ := launches.Names()
	for _, name := range names {
		if stat, err := launches.Stat(name); err == nil {
			add(Leftover{Path: launches.Path(name), in: launches, name: name}, time.Unix(stat.Mtim.Unix()))
		}
	}
	return left
}

// isTemporary reports whether a name is that of a temporary file: ".x.json" before a rename, the form that renameio
// makes of it, or a scratch file of doctor.
func isTemporary(name string) bool {
	return strings.HasPrefix(name, ".") && (strings.Contains(name, ".json") || strings.HasPrefix(name, ".doctor."))
}

// RemoveLeftover removes a leftover, unless it was written again since.
func (s *Store) RemoveLeftover(l Leftover, now time.Time, age time.Duration) error {
	info, err := os.Lstat(l.Path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && now.Sub(info.ModTime()) <= age {
		return nil
	}
	if err != nil {
		return err
	}
	if l.in != private.NoTree {
		return l.in.Remove(l.name)
	}
	return s.nbs.Remove(l.name)
}
