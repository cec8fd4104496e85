package observe

import (
	"cmp"
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/store"
)

// An adopted process has no mark of ours, because a person started it. Claude's own registry entry takes the place
// of the mark.

// stillAdopted reports whether the recorded process is still the adopted one. Its registry entry must have the start
// of that process and the time of its registration. No other agent may have the process: no agent of this project,
// of the project from which this one was copied, or of the project whose mark the process has.
func (o *Project) stillAdopted(r *agent.Record) bool {
	config, err := o.ConfigOf(r)
	if err != nil {
		return false
	}
	live, err := config.Registry().Entry(r.Process.PID)
	if err != nil || !live.Is(r.Process) || o.IsOriginal(r.ProjectRoot, r.Handle) || o.namedIn(r.ProjectRoot, r.Process.Identity) {
		return false
	}
	if _, marked := o.markedOwner(r.Process.Identity); marked {
		return false
	}
	others, err := o.AgentsOf(o.Store, r.Process.PID, r.Process.StartTicks)
	return err == nil && !slices.ContainsFunc(others, func(other agent.Handle) bool { return !other.Same(r.Handle) })
}

// namedIn reports whether an agent of another project has the process.
func (o *Project) namedIn(root string, id agent.Identity) bool {
	if root == o.Store.Project() {
		return false
	}
	project, err := store.Open(root)
	if err != nil {
		return false // it was moved here, or is no longer a project
	}
	defer project.Close()
	named, err := o.AgentsOf(project, id.PID, id.StartTicks)
	return err != nil || len(named) > 0
}

// AgentsOf returns the agents of a project whose records name a process. It ignores records that cannot be read.
func (o *Project) AgentsOf(project *store.Store, pid int, startTicks uint64) ([]agent.Handle, error) {
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
		if (isClaude || isLauncher) && o.Machine.IsAlive(p.Identity) {
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
func (o *Project) OwnerOf(id agent.Identity) (Owner, bool) {
	if o.Store.Exists() {
		handles, err := o.AgentsOf(o.Store, id.PID, id.StartTicks)
		if err == nil && len(handles) > 0 {
			return Owner{handles[0], o.Store.Project()}, true
		}
	}
	return o.markedOwner(id)
}

// markedOwner finds the agent whose mark a process has, if that agent's record agrees.
func (o *Project) markedOwner(id agent.Identity) (Owner, bool) {
	root, _ := o.Machine.Variable(id.PID, agent.RootVariable)
	handle, named := o.Machine.Variable(id.PID, agent.HandleVariable)
	invocation, marked := o.Machine.Variable(id.PID, agent.InvocationVariable)
	if _, err := agent.ParseHandle(handle); root == "" || !named || !marked || err != nil {
		return Owner{}, false
	}
	project, err := store.Open(root)
	if err != nil {
		return Owner{}, false
	}
	defer project.Close()
	r, err := project.Load(agent.Handle(handle))
	if err != nil || r.Process == nil || r.Process.Adopted != nil || string(r.Process.Invocation) != invocation || o.Machine.IsGone(r.Process.Identity) {
		return Owner{}, false
	}
	// If an agent's shell started a tmux server, all its panes have the agent's mark.
	if id.PID != r.Process.PID && o.InForeignTmux(&r, id.PID) {
		return Owner{}, false
	}
	return Owner{r.Handle, root}, true
}

// adoptedPane returns the user's pane in which an adopted claude runs, while it runs.
func (o *Project) adoptedPane(panes []tmux.Pane, p *agent.Process) (tmux.Pane, bool) {
	if p.Adopted.Pane == "" || p.Tmux == nil || !o.Machine.IsAlive(p.Identity) {
		return tmux.Pane{}, false
	}
	chain := o.Machine.AncestorsOf(p.PID)
	for _, pane := range panes {
		if pane.ID == p.Adopted.Pane && slices.Contains(chain, pane.PID) {
			return pane, true
		}
	}
	return tmux.Pane{}, false
}

// CheckUnrecorded refuses a conversation that another agent of the project has, or may have. If a record cannot be
// read, the error names it.
func (o *Project) CheckUnrecorded(r *agent.Record) error {
	handles, err := o.Store.Handles()
	if err != nil {
		return err
	}
	var unread error
	for _, handle := range handles {
		other, err := o.Store.Load(handle)
		switch {
		case err == nil && other.SessionID == r.SessionID:
			return fail.Errorf(fail.Conflict, "the conversation %s belongs to agent %s", r.SessionID, handle).
				Hint("nbs-worker resume %s", handle)
		case fail.KindOf(err) != fail.NotFound: // otherwise it was just dismissed
			unread = cmp.Or(unread, err)
		}
	}
	return unread
}

// HintAside adds how to move a wrong record aside and go on with its conversation.
func (o *Project) HintAside(err *fail.Error, r *agent.Record, when string) *fail.Error {
	return err.Hint("%s, move its record aside: %s", when, o.Store.MoveAside(r.Handle)).
		Hint("and continue its conversation: nbs-worker spawn %s --session-id %s", r.Handle, r.SessionID)
}
