package observe

import (
	"path/filepath"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/folder"
)

// MovedWithProject returns the present place of a record's folder after its project was moved; "" if the folder is
// where it was, or was not in the project.
func (o *Project) MovedWithProject(r *agent.Record) string {
	if folder.Exists(r.LaunchCwd()) || r.ProjectRoot == o.Store.Project() {
		return ""
	}
	below, err := filepath.Rel(r.ProjectRoot, r.LaunchCwd())
	if err != nil || below == ".." || strings.HasPrefix(below, "../") {
		return ""
	}
	if moved := filepath.Join(o.Store.Project(), below); folder.Exists(moved) {
		return moved
	}
	return ""
}
