package supervisor

import (
	"nbs-worker/internal/agent"
	"nbs-worker/internal/team/launch"
)

// relocate gives an agent the requested folder. Without a request, it gives the agent the new place of its own folder
// if that has moved with the whole project. It returns nil if the folder stays the same.
func (s *Supervisor) relocate(r *agent.Record, cwd string) *launch.Moved {
	from := r.LaunchCwd()
	if cwd == "" {
		cwd = s.Project.MovedWithProject(r)
	}
	root := r.ProjectRoot
	r.ProjectRoot = s.Project.Store.Project()
	if cwd == "" || cwd == from {
		if r.Cwd == "" {
			r.Cwd = root // where the original tools started it
		}
		return nil
	}
	r.Cwd = cwd
	return &launch.Moved{From: from, To: cwd}
}
