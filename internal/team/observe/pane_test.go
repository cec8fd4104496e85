package observe

import (
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/machine/fake"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/sim/rig"
)

// A pane is the agent's by its mark and its leader; a pane that a person has opened there is theirs. Before its
// launcher is recorded, its program must be the one that tmux was asked to start.
func TestPaneOfAStart(t *testing.T) {
	t.Parallel()
	const ours, persons, forking = 10, 11, 12 // the last as tmux is before it has become the program
	table := fake.New()
	const server, program = 2, "/usr/bin/nbs-worker"
	table.AddServer(server, fake.Process{})
	table.Add(ours, fake.Process{Parent: server, Args: []string{program, "run", "alpha"}, Program: program, Env: []string{"TMUX_PANE=%1", agent.LaunchVariable + "=i"}})
	table.Add(persons, fake.Process{Parent: server, Args: []string{"-zsh"}, Env: []string{"TMUX_PANE=%1", agent.LaunchVariable + "="}})
	table.AddServer(forking, fake.Process{Parent: server})
	o := &Project{Machine: table.Machine(), Program: program}
	arrived, arriving := agent.Identified{PID: ours}, agent.Identified{}
	for what, c := range map[string]struct {
		launcher agent.Identified
		pane     tmux.Pane
		there    bool
	}{
		"its launcher leads it":         {arrived, tmux.Pane{PID: ours, Invocation: "i"}, true},
		"of no start":                   {arrived, tmux.Pane{PID: ours, SessionInvocation: "i"}, false},
		"in another session":            {arrived, tmux.Pane{PID: ours, Invocation: "i", Session: "mine"}, true},
		"of another start":              {arrived, tmux.Pane{PID: ours, Invocation: "j", SessionInvocation: "i"}, false},
		"taken over":                    {arrived, tmux.Pane{PID: persons, Invocation: "i"}, false},
		"a person's window":             {arrived, tmux.Pane{PID: persons, SessionInvocation: "i"}, false},
		"on its way":                    {arriving, tmux.Pane{PID: ours, Invocation: "i"}, true},
		"on its way, forked":            {arriving, tmux.Pane{PID: forking, Invocation: "i"}, true},
		"on its way, ended":             {arriving, tmux.Pane{PID: 1 << 30, Invocation: "i"}, true},
		"on its way, taken over":        {arriving, tmux.Pane{PID: persons, Invocation: "i"}, false},
		"on its way, a person's window": {arriving, tmux.Pane{PID: ours, SessionInvocation: "i"}, false},
	} {
		p := &agent.Process{Invocation: "i", Launcher: c.launcher}
		_, there := o.PaneOf([]tmux.Pane{c.pane}, p)
		rig.Check(t, there == c.there, "%s: it is the agent's: %t", what, there)
	}
	_, there := o.PaneOf([]tmux.Pane{{PID: ours}}, &agent.Process{Launcher: arrived})
	rig.Check(t, !there, "a record without a start has a pane")
}
