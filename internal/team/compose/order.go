package compose

import (
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/team/teamfile"
)

// withDependencies adds what the agents depend on, directly or not.
func withDependencies(file *teamfile.File, handles []agent.Handle) []agent.Handle {
	all := slices.Clone(handles)
	for i := 0; i < len(all); i++ {
		for _, need := range file.Agent(all[i]).DependsOn {
			if !slices.ContainsFunc(all, need.On.Same) {
				all = append(all, need.On)
			}
		}
	}
	return all
}

// inOrder returns the agents, each after those that it depends on, and otherwise in the order of the file. The reader of
// the file refuses a circle.
func inOrder(file *teamfile.File, handles []agent.Handle) (ordered []*teamfile.Agent) {
	seen := map[string]bool{}
	var visit func(a *teamfile.Agent)
	visit = func(a *teamfile.Agent) {
		if seen[a.Handle.Key()] {
			return
		}
		seen[a.Handle.Key()] = true
		for _, need := range a.DependsOn {
			visit(file.Agent(need.On))
		}
		if slices.ContainsFunc(handles, a.Handle.Same) {
			ordered = append(ordered, a)
		}
	}
	for i := range file.Agents {
		visit(&file.Agents[i])
	}
	return ordered
}
