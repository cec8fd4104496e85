package store

import (
	"io/fs"
	"strings"
	"time"
)

// leftAfter is the age at which a temporary file was left by somebody who was
// killed: writing one takes milliseconds.
const leftAfter = time.Minute

// sweep removes what a killed process left: temporary files, and launch files that no
// launcher took, which hold an environment. What cannot be removed now is removed by
// the next verb.
func (s *Store) sweep(now time.Time) {
	for _, folder := range []string{sessions, launches} {
		entries, err := fs.ReadDir(s.nbs.FS(), folder)
		if err != nil {
			continue
		}
		for _, entry := range entries {
			info, err := entry.Info()
			temporary := folder == launches || strings.HasPrefix(entry.Name(), ".")
			if err == nil && temporary && now.Sub(info.ModTime()) > leftAfter {
				_ = s.nbs.Remove(folder + "/" + entry.Name())
			}
		}
	}
}
