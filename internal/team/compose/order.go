package compose

import (
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
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

// inOrder returns the agents, each after those that it depends on, and otherwise in the order of the file. Errors:
// BadInput for a circle.
func inOrder(file *teamfile.File, handles []agent.Handle) ([]*teamfile.Agent, error) {
	o := ordering{file: file}
	var ordered []*teamfile.Agent
	for i := range file.Agents {
		if err := o.visit(file.Agents[i].Handle); err != nil {
			return nil, err
		}
	}
	for _, a := range o.done {
		if slices.ContainsFunc(handles, a.Handle.Same) {
			ordered = append(ordered, a)
		}
	}
	return ordered, nil
}

// ordering is a walk through the dependencies.
type ordering struct {
	file *teamfile.File
	path []agent.Handle // from the agent where the walk began to the present one
	done []*teamfile.Agent
}

func (o *ordering) visit(handle agent.Handle) error {
	if slices.ContainsFunc(o.done, func(a *teamfile.Agent) bool { return a.Handle.Same(handle) }) {
		return nil
	}
	if i := slices.IndexFunc(o.path, handle.Same); i >= 0 {
		circle := agent.Mapped(append(slices.Clone(o.path[i:]), handle), func(h agent.Handle) string { return string(h) })
		return fail.Errorf(fail.BadInput, "the agents depend on each other in a circle: %s", strings.Join(circle, " -> "))
	}
	a := o.file.Agent(handle)
	o.path = append(o.path, handle)
	for _, need := range a.DependsOn {
		if err := o.visit(need.On); err != nil {
			return err
		}
	}
	o.path = o.path[:len(o.path)-1]
	o.done = append(o.done, a)
	return nil
}
