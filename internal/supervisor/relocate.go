package supervisor

import (
	"path/filepath"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/launch"
	"nbs-worker/internal/observe"
)

// relocate gives an agent the folder that is asked for, or the one to which its own has moved
// with the whole project; nil when it stays where it was.
func (s *Supervisor) relocate(r *agent.Record, cwd string) *launch.Moved {
	from := r.LaunchCwd()
	if cwd == "" {
		cwd = s.MovedWithProject(r)
	}
	root := r.ProjectRoot
	r.ProjectRoot = s.Store.Project()
	if cwd == "" || cwd == from {
		if r.Cwd == "" {
			r.Cwd = root // where the original tools started it
		}
		return nil
	}
	r.Cwd = cwd
	return &launch.Moved{From: from, To: cwd}
}

// MovedWithProject is where the folder of a record is since its project was moved; "" when
// the folder is where it was, or is not in the project.
func (s *Supervisor) MovedWithProject(r *agent.Record) string {
	if observe.IsFolder(r.LaunchCwd()) || r.ProjectRoot == s.Store.Project() {
		return ""
	}
	below, err := filepath.Rel(r.ProjectRoot, r.LaunchCwd())
	if err != nil || below == ".." || strings.HasPrefix(below, "../") {
		return ""
	}
	if moved := filepath.Join(s.Store.Project(), below); observe.IsFolder(moved) {
		return moved
	}
	return ""
}
