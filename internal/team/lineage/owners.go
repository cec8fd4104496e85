package lineage

import (
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/folder"
	"nbs-worker/internal/store"
)

// An adopted process has no mark of ours, because a person started it. Claude's own registry entry takes the place
// of the mark.

// stillAdopted reports whether the recorded process is still the adopted one. Its registry entry must have the start
// of that process and the time of its registration. No other agent may have the process.
func (f Finder) stillAdopted(r *agent.Record) bool {
	config, err := f.configOf(r)
	if err != nil {
		return false
	}
	live, err := config.Registry().Entry(r.Process.PID)
	return err == nil && live.Is(r.Process) && !f.hasOther(r, r.Process.Identity)
}

// hasOther reports whether another agent has a process: one of this project, of the project from which this one was
// copied, or of the project whose mark the process has.
func (f Finder) hasOther(r *agent.Record, id agent.Identity) bool {
	if f.isOriginal(r.ProjectRoot, r.Handle) || f.namedIn(r.ProjectRoot, id) {
		return true
	}
	if _, marked := f.markedOwner(id); marked {
		return true
	}
	others, err := f.AgentsOf(f.Store, id.PID, id.StartTicks)
	return err != nil || slices.ContainsFunc(others, func(other agent.Handle) bool { return !other.Same(r.Handle) })
}

// namedIn reports whether an agent of another project has the process.
func (f Finder) namedIn(root string, id agent.Identity) bool {
	if folder.Same(root, f.Store.Project()) {
		return false
	}
	project, err := store.Open(root)
	if err != nil {
		return false // it was moved here, or is no longer a project
	}
	defer project.Close()
	named, err := f.AgentsOf(project, id.PID, id.StartTicks)
	return err != nil || len(named) > 0
}

// AgentsOf returns the agents of a project whose records name a process. It ignores records that cannot be read.
func (f Finder) AgentsOf(project *store.Store, pid int, startTicks uint64) ([]agent.Handle, error) {
	records, err := project.Records()
	if err != nil {
		return nil, err
	}
	var named []agent.Handle
	for _, one := range records {
		p := one.Record.Process
		if p == nil {
			continue
		}
		isClaude := p.PID == pid && p.StartTicks == startTicks
		isLauncher := p.Launcher.PID == pid && p.Launcher.StartTicks == startTicks
		if (isClaude || isLauncher) && f.Machine.IsAlive(p.Identity) {
			named = append(named, one.Handle)
		}
	}
	return named, nil
}

// Owner is the agent that a process belongs to, and its project.
type Owner struct {
	Handle  agent.Handle
	Project string
}

// OwnerOf finds the agent of a process: in the records of this project, or in another project that the process's
// environment names, if that project's record agrees.
func (f Finder) OwnerOf(id agent.Identity) (Owner, bool) {
	if f.Store.Exists() {
		handles, err := f.AgentsOf(f.Store, id.PID, id.StartTicks)
		if err == nil && len(handles) > 0 {
			return Owner{handles[0], f.Store.Project()}, true
		}
	}
	return f.markedOwner(id)
}

// markedOwner finds the agent whose mark a process has, if that agent's record agrees.
func (f Finder) markedOwner(id agent.Identity) (Owner, bool) {
	root, _ := f.Machine.Variable(id.PID, agent.RootVariable)
	handle, named := f.Machine.Variable(id.PID, agent.HandleVariable)
	invocation, marked := f.Machine.Variable(id.PID, agent.InvocationVariable)
	if _, err := agent.ParseHandle(handle); root == "" || !named || !marked || err != nil {
		return Owner{}, false
	}
	project, err := store.Open(root)
	if err != nil {
		return Owner{}, false
	}
	defer project.Close()
	r, err := project.Load(agent.Handle(handle))
	if err != nil || r.Process == nil || r.Process.Adopted != nil || string(r.Process.Invocation) != invocation || f.Machine.IsGone(r.Process.Identity) {
		return Owner{}, false
	}
	// If an agent's shell started a tmux server, all its panes have the agent's mark.
	if id.PID != r.Process.PID && f.inForeignTmux(&r, id.PID) {
		return Owner{}, false
	}
	return Owner{r.Handle, root}, true
}
