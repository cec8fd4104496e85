package export

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

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
	if errors.Is(err, fs.ErrNotExist) || err == nil && isOurs(text) {
		return nil
	}
	if err != nil {
		return err
	}
	return fail.Errorf(fail.Conflict, "%s exists, and nbs-worker export did not write it", human.Quote(path)).
		Hint("look at it, then move it aside: mv %[1]s %[1]s.aside", human.ShellWord(path))
}

// isOurs reports whether a text has the first line of one of our units.
func isOurs(text []byte) bool {
	start, _, _ := strings.Cut(mark, "systemd")
	if _, list, isXML := bytes.Cut(text, []byte("?>\n<!-- ")); isXML && bytes.HasPrefix(text, []byte("<?xml ")) {
		return bytes.HasPrefix(list, []byte(strings.TrimPrefix(start, "# ")))
	}
	return bytes.HasPrefix(bytes.TrimPrefix(text, []byte("#!/bin/bash\n")), []byte(start))
}
