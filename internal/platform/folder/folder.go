// Package folder compares folders by what they are, and not by how a path is written.
package folder

import (
	"os"
	"path/filepath"
	"strings"
)

// Real returns a path without links, or the path itself if it cannot be resolved.
func Real(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return strings.TrimSuffix(path, "/")
}

// Contains reports whether a path is the folder, or in it, wherever links lead.
func Contains(folder, path string) bool {
	rel, err := filepath.Rel(Real(folder), Real(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// Exists reports whether a path is an existing folder.
func Exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Same reports whether two paths lead to the same folder, which may be mounted twice.
func Same(a, b string) bool {
	if a == b {
		return true
	}
	at, err1 := os.Stat(a)
	bt, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(at, bt)
}
