package supervisor

import (
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/launcher"
	"nbs-worker/internal/proc"
	"nbs-worker/internal/store"
	"nbs-worker/internal/tmux"
)

// An adopted process bears no mark of ours: a person started it. In the place of the mark
// stands Claude's own registry entry.

// vouched tells whether the recorded process still is what was adopted: its registry entry
// has the start of that process and the moment of its registration, and no other agent has
// it, of this project, of the one of which this is a copy, or of the one whose mark it bears.
func (s *Supervisor) vouched(r *agent.Record) bool {
	config, err := s.configOf(r)
	if err != nil {
		return false
	}
	live, err := config.Live(r.Process.PID)
	if err != nil || !live.Is(r.Process) || s.isOriginal(r.ProjectRoot, r.Handle) || s.namedIn(r.ProjectRoot, r.Process.Identity) {
		return false
	}
	if _, marked := s.markedOwner(r.Process.Identity); marked {
		return false
	}
	others, err := s.agentsOf(s.Store, r.Process.PID, r.Process.StartTicks)
	return err == nil && !slices.ContainsFunc(others, func(other agent.Handle) bool { return !other.Same(r.Handle) })
}

// namedIn tells whether an agent of another project has the process.
func (s *Supervisor) namedIn(root string, id agent.Identity) bool {
	if root == s.Store.Project() {
		return false
	}
	project, err := store.Open(root)
	if err != nil {
		return false // it was moved here, or is no project any more
	}
	defer project.Close()
	named, err := s.agentsOf(project, id.PID, id.StartTicks)
	return err != nil || len(named) > 0
}

// lacking says what a process that is recorded as the agent's does not have.
func lacking(r *agent.Record) string {
	if r.Process.Adopted != nil {
		return "Claude's registry does not confirm that it is the one that was adopted here"
	}
	return "does not bear the mark of its start"
}

// agentsOf are the agents of a project whose records name a process. Records that cannot be
// read name none.
func (s *Supervisor) agentsOf(project *store.Store, pid int, startTicks uint64) ([]agent.Handle, error) {
	handles, err := project.Handles()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(handles, func(handle agent.Handle) bool {
		r, err := project.Load(handle)
		if err != nil || r.Process == nil {
			return true
		}
		isClaude := r.Process.PID == pid && r.Process.StartTicks == startTicks
		isLauncher := r.Process.Launcher.PID == pid && r.Process.Launcher.StartTicks == startTicks
		return !isClaude && !isLauncher || !alive(r.Process.Identity)
	}), nil
}

// owner is the agent that a process belongs to, and its project.
type owner struct {
	handle  agent.Handle
	project string
}

// ownerOf finds the agent that a process belongs to: by the records of this project, or by
// what its environment says of another one, where that project's record agrees.
func (s *Supervisor) ownerOf(id agent.Identity) (owner, bool) {
	if s.Store.Exists() {
		handles, err := s.agentsOf(s.Store, id.PID, id.StartTicks)
		if err == nil && len(handles) > 0 {
			return owner{handles[0], s.Store.Project()}, true
		}
	}
	return s.markedOwner(id)
}

// markedOwner finds the agent whose mark a process bears, where that agent's record agrees.
func (s *Supervisor) markedOwner(id agent.Identity) (owner, bool) {
	root, _ := proc.Variable(id.PID, launcher.RootVariable)
	handle, named := proc.Variable(id.PID, launcher.HandleVariable)
	invocation, marked := proc.Variable(id.PID, launcher.InvocationVariable)
	if _, err := agent.ParseHandle(handle); root == "" || !named || !marked || err != nil {
		return owner{}, false
	}
	project, err := store.Open(root)
	if err != nil {
		return owner{}, false
	}
	defer project.Close()
	r, err := project.Load(agent.Handle(handle))
	if err != nil || r.Process == nil || r.Process.Adopted != nil || string(r.Process.Invocation) != invocation || gone(r.Process.Identity) {
		return owner{}, false
	}
	// A tmux server that came up from an agent's shell hands the agent's mark to all its panes.
	if id.PID != r.Process.PID && s.inForeignTmux(&r, id.PID) {
		return owner{}, false
	}
	return owner{r.Handle, root}, true
}

// adoptedPane is the user's pane in which an adopted claude runs, as long as it does.
func adoptedPane(panes []tmux.Pane, p *agent.Process) (tmux.Pane, bool) {
	if p.Adopted.Pane == "" || p.Tmux == nil || !alive(p.Identity) {
		return tmux.Pane{}, false
	}
	chain := proc.AncestorsOf(p.PID)
	for _, pane := range panes {
		if pane.ID == p.Adopted.Pane && slices.Contains(chain, pane.PID) {
			return pane, true
		}
	}
	return tmux.Pane{}, false
}

// whyAdoptedDead tells what can be told of an end that nobody of ours waited for: claude
// takes its entry out of its registry when it leaves, and a kill leaves it behind.
func whyAdoptedDead(r *agent.Record) (agent.Cause, string) {
	config, err := claude.ConfigAt(r.ConfigDir)
	if err == nil {
		if live, err := config.Live(r.Process.PID); err == nil && live.Is(r.Process) {
			return agent.Crashed, "it was killed, or died; it was adopted, and no launcher saw how"
		}
	}
	if tmuxLost(r.Process) {
		return agent.LostTmux, "or it left by itself, and the server with it: it was adopted, and no launcher saw it"
	}
	return agent.Exited, "it was adopted, and no launcher saw how it ended, nor whether it had gone to another conversation"
}

// look checks a recorded process, as the caller does. One that was adopted is looked at more
// closely: whoever started it may be slow to wait for it, and a killed claude whose first
// thread is a zombie still has others for a moment.
func look(p *agent.Process, check func(agent.Identity) (proc.Liveness, error)) (proc.Liveness, error) {
	if p.Adopted != nil {
		check = proc.Check
	}
	return check(p.Identity)
}
