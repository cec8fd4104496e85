// Package wholefile writes a file whole or not at all, so that it outlasts a power cut.
package wholefile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Put writes a file, and makes the folders above it. It replaces a file of that name.
func Put(path string, from io.Reader) error {
	const folder, private = 0o700, 0o600
	first := existing(filepath.Dir(path))
	if err := os.MkdirAll(filepath.Dir(path), folder); err != nil {
		return err
	}
	temp := path + ".nbs" // of a killed call too
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	to, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, private)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Sync(), to.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if err := sync(dir); err != nil || dir == first {
			return err
		}
	}
}

// existing returns the nearest existing folder at or above a path.
func existing(path string) string {
	for ; path != filepath.Dir(path); path = filepath.Dir(path) {
		if _, err := os.Lstat(path); err == nil {
			break
		}
	}
	return path
}

func sync(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
