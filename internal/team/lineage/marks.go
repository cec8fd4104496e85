package lineage

import (
	"errors"
	"os"
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/platform/folder"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/store"
)

// Finder finds the processes of a project's agents.
type Finder struct {
	Machine *machine.Machine
	Store   *store.Store
	Program string   // path of nbs-worker
	Env     []string // the caller's environment
}

func (f Finder) configOf(r *agent.Record) (claude.Config, error) {
	return claude.ConfigOf(&r.Spec, f.Env)
}

// IsOf reports whether a process belongs to the record's start. The launcher must be running the handle in this
// project. Claude must have the invocation in its environment, or be a child of that launcher, because a wrapper may
// give it another environment. If a record was copied, with its project or alone, the processes that it names belong
// to the original.
func (f Finder) IsOf(r *agent.Record, pid int) bool {
	if r.Process.Adopted != nil {
		return f.stillAdopted(r)
	}
	if f.OfOriginal(r, pid) {
		return false
	}
	if pid == r.Process.Launcher.PID {
		return f.runs(pid, r.Handle)
	}
	if f.Carries(r, pid) {
		return true
	}
	if parent := f.Machine.Parent(pid); parent != 0 && parent == r.Process.Launcher.PID && f.IsOf(r, parent) {
		return true
	}
	return f.hidden(pid) && f.confirmed(r)
}

// hidden reports whether the operating system does not show the environment of a process.
func (f Finder) hidden(pid int) bool {
	_, err := f.Machine.Environ(pid)
	return errors.Is(err, machine.ErrUnknown)
}

// confirmed reports whether Claude's registry has the recorded process with a conversation of the record, and the record
// has this user's seal. That takes the place of a mark that is hidden, when the launcher has ended.
func (f Finder) confirmed(r *agent.Record) bool {
	config, err := f.configOf(r)
	if err != nil || f.Store.CheckSeal(r) != nil {
		return false
	}
	entry, err := config.Registry().Entry(r.Process.Claude().PID)
	known := func(s agent.PreviousSession) bool { return s.SessionID == entry.SessionID }
	return err == nil && entry.Is(r.Process) && (entry.SessionID == r.SessionID || slices.ContainsFunc(r.PreviousSessions, known))
}

// OfOriginal reports whether a process belongs to the agent from which the record was copied.
func (f Finder) OfOriginal(r *agent.Record, pid int) bool {
	if asked, _ := f.Machine.Variable(pid, agent.LaunchVariable); asked == string(r.Process.Invocation) || f.runs(pid, r.Handle) {
		// A launcher may have the variables of the agent whose shell started the tmux server. Only its command line
		// and its working directory identify it.
		words, err := f.Machine.Cmdline(pid)
		cwd, _ := f.Machine.Cwd(pid)
		return err == nil && len(words) > 0 && !names(words, r.Handle) || f.isOriginal(cwd, r.Handle)
	}
	return f.ofOtherAgent(r, pid)
}

// OfOther reports whether a process that a record names, or the leader of its pane, is known to belong to another agent.
func (f Finder) OfOther(r *agent.Record, pid int) bool {
	if r.Process.Adopted == nil {
		return f.OfOriginal(r, pid)
	}
	id, err := f.Machine.Identify(pid)
	return err == nil && f.hasOther(r, id)
}

// ofOtherAgent reports whether a process was started as an agent with another name, or as the agent of another
// project that has the same agent.
func (f Finder) ofOtherAgent(r *agent.Record, pid int) bool {
	handle, named := f.Machine.Variable(pid, agent.HandleVariable)
	root, _ := f.Machine.Variable(pid, agent.RootVariable)
	return named && !agent.Handle(handle).Same(r.Handle) || f.isOriginal(root, r.Handle)
}

// isOriginal reports whether a folder is another project that has the same agent.
func (f Finder) isOriginal(root string, handle agent.Handle) bool {
	return root != "" && !folder.Same(root, f.Store.Project()) && store.Has(root, handle)
}

// Carries reports whether a process has the invocation of the record's start in its environment.
func (f Finder) Carries(r *agent.Record, pid int) bool {
	return MarkOf(f.Machine, pid) == r.Process.Invocation
}

// MarkOf returns the start of an agent to which a process claims to belong, or "".
func MarkOf(m *machine.Machine, pid int) agent.Invocation {
	mark, _ := m.Variable(pid, agent.InvocationVariable)
	return agent.Invocation(mark)
}

// Leads reports whether the launcher of a start leads a pane with the mark of the start. A launcher that has not
// recorded itself yet is the process for which tmux created the pane: it has the start in its environment, or is
// still a fork of the server.
func (f Finder) Leads(p *agent.Process, pane *tmux.Pane) bool {
	if p.Launcher.PID != 0 {
		return pane.PID == p.Launcher.PID
	}
	leader, err := f.Machine.Identify(pane.PID)
	forked := f.Machine.IsMac() && f.Machine.Name(pane.PID) == "tmux" // it keeps the name of its server
	if err != nil || forked || IsTmuxServer(f.Machine, pane.PID) {
		return true // it has ended already, or has not begun
	}
	owner, err := f.Machine.Owner(pane.PID)
	_, begun := f.Machine.Variable(pane.PID, "TMUX_PANE") // in the middle of its exec it has no variable at all
	others := err == nil && owner != os.Geteuid() || begun && !TakesUp(f.Machine, pane.PID, p.Invocation) || f.hidden(pane.PID) && !f.Launches(pane.PID)
	return !others || !f.Machine.IsAlive(leader)
}

// TakesUp reports whether a process was started as the launcher of a start.
func TakesUp(m *machine.Machine, pid int, invocation agent.Invocation) bool {
	asked, _ := m.Variable(pid, agent.LaunchVariable)
	return asked == string(invocation)
}

// inForeignTmux reports whether a process is a tmux server, or runs in a pane that is not the agent's. If an agent's
// shell started a tmux server, all panes of that server have the agent's mark, also those of a person.
func (f Finder) inForeignTmux(r *agent.Record, pid int) bool {
	leader := 0 // of the pane
	for _, ancestor := range f.Machine.AncestorsOf(pid) {
		if ancestor == r.Process.PID || ancestor == r.Process.Launcher.PID {
			return false
		}
		if IsTmuxServer(f.Machine, ancestor) {
			// A launcher that has not recorded itself yet already leads our pane.
			return leader == 0 || !f.Carries(r, leader) || !f.runs(leader, r.Handle)
		}
		leader = ancestor
	}
	return false
}
