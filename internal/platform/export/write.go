package export

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"

	"github.com/google/renameio/v2"
)

// Write writes the units into a folder, which it creates if needed, and returns their paths. Errors: Conflict when a
// unit's path has a file that this program did not write; then no unit is written.
func Write(dir string, units []Unit) (paths []string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	for _, unit := range units {
		path := filepath.Join(dir, unit.Name)
		if err := checkOurs(path); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	for i, unit := range units {
		if err := renameio.WriteFile(paths[i], []byte(unit.Text), 0o600); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

func checkOurs(path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && bytes.HasPrefix(text, []byte(mark)) {
		return nil
	}
	if err != nil {
		return err
	}
	return fail.Errorf(fail.Conflict, "%s exists, and nbs-worker export did not write it", human.Quote(path)).
		Hint("look at it, then move it aside: mv %[1]s %[1]s.aside", human.ShellWord(path))
}
