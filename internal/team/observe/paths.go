package observe

import (
	"os"
	"path/filepath"
	"strings"

	"nbs-worker/internal/agent"
)

// RealPath returns a path without links, or the path itself if it cannot be resolved.
func RealPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return strings.TrimSuffix(path, "/")
}

// Inside reports whether a path is a folder, or in it, wherever links lead.
func Inside(path, folder string) bool {
	rel, err := filepath.Rel(RealPath(folder), RealPath(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// IsFolder reports whether a path is an existing folder.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// SameFolder reports whether two paths lead to the same folder, which may be mounted twice.
func SameFolder(a, b string) bool {
	if a == b {
		return true
	}
	at, err1 := os.Stat(a)
	bt, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(at, bt)
}

// MovedWithProject returns the present place of a record's folder after its project was moved; "" if the folder is
// where it was, or was not in the project.
func (o *Project) MovedWithProject(r *agent.Record) string {
	if IsFolder(r.LaunchCwd()) || r.ProjectRoot == o.Store.Project() {
		return ""
	}
	below, err := filepath.Rel(r.ProjectRoot, r.LaunchCwd())
	if err != nil || below == ".." || strings.HasPrefix(below, "../") {
		return ""
	}
	if moved := filepath.Join(o.Store.Project(), below); IsFolder(moved) {
		return moved
	}
	return ""
}
