package lineage

import (
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/platform/machine"
)

// Below returns the descendants of the agent's claude and launcher that belong to its start. Where environments are
// hidden, it adds what these have left in their process groups and sessions.
func (f Finder) Below(r *agent.Record) ([]agent.Identity, error) {
	var found, own []agent.Identity
	for _, parent := range []agent.Identity{r.Process.LauncherIdentity(), r.Process.Identity} {
		if !f.Machine.IsAlive(parent) {
			continue
		}
		ids, err := f.Machine.Descendants(parent.PID)
		if err != nil {
			return nil, err
		}
		found, own = append(found, ids...), append(own, parent)
	}
	found = f.ownOnly(r, found)
	orphans, err := f.hiddenOrphans(append(own, found...))
	return append(found, f.ownOnly(r, orphans)...), err
}

// hiddenOrphans returns the processes with a hidden environment that are in a process group or session which one of the
// leaders leads, and whose parent has ended; and what is below them. A process that has a parent of its own may be a
// person's, as in a pipeline.
func (f Finder) hiddenOrphans(leaders []agent.Identity) (orphans []agent.Identity, err error) {
	if !f.Machine.IsMac() {
		return nil, nil // it hides no environment, and another look at all processes takes time
	}
	beside, err := f.Machine.Beside(leaders)
	if err != nil {
		return nil, err
	}
	for _, id := range beside {
		if f.Machine.Parent(id.PID) > 1 || slices.Contains(leaders, id) || !f.hidden(id.PID) {
			continue
		}
		below, err := f.Machine.Descendants(id.PID)
		if err != nil {
			return nil, err
		}
		orphans = append(append(orphans, id), below...)
	}
	return orphans, nil
}

// Left returns the processes that a start left behind, whatever their parent is now.
func (f Finder) Left(r *agent.Record) ([]agent.Identity, error) {
	found, err := f.OfStart(r.Process.Invocation)
	return f.ownOnly(r, found), err
}

// OfStart returns all processes that have the mark of a start, also foreign ones.
func (f Finder) OfStart(invocation agent.Invocation) ([]agent.Identity, error) {
	return f.Machine.Carrying(agent.InvocationVariable, string(invocation))
}

// LeftOfTurn returns the claude of an attempt at a turn, and what it started, while they live.
func LeftOfTurn(m *machine.Machine, invocation agent.Invocation) ([]agent.Identity, error) {
	return m.Carrying(agent.TurnVariable, string(invocation))
}

// ownOnly drops processes that only look like the agent's: other agents that it started, processes in other tmux
// sessions, Claude's background daemon, and this command itself.
func (f Finder) ownOnly(r *agent.Record, ids []agent.Identity) []agent.Identity {
	ancestors := f.Machine.Ancestors()
	seen := map[int]bool{r.Process.PID: true, r.Process.Launcher.PID: true}
	return slices.DeleteFunc(ids, func(id agent.Identity) bool {
		mark, carries := f.Machine.Variable(id.PID, agent.InvocationVariable)
		foreign := carries && mark != string(r.Process.Invocation) || f.ofOtherAgent(r, id.PID) || !carries && f.belowOther(r, id.PID)
		drop := foreign || seen[id.PID] || slices.Contains(ancestors, id.PID) || f.inForeignTmux(r, id.PID) || f.inBackground(r, id.PID)
		seen[id.PID] = true
		return drop
	})
}

// belowOther reports whether a process whose mark is hidden is another agent's launcher or claude, or below one.
func (f Finder) belowOther(r *agent.Record, pid int) bool {
	if !f.hidden(pid) {
		return false // it has cleared its environment
	}
	_, other := f.nearest(r, pid)
	return other
}

// HiddenBelow reports whether a process hides its mark and is below the agent's claude or launcher. It takes the place of
// [Finder.Carries] there.
func (f Finder) HiddenBelow(r *agent.Record, pid int) bool {
	if !f.hidden(pid) {
		return false
	}
	own, _ := f.nearest(r, pid)
	return own != 0 && (own == r.Process.PID && f.Machine.IsAlive(r.Process.Identity) || own == r.Process.Launcher.PID && f.Machine.IsAlive(r.Process.LauncherIdentity()))
}

// nearest looks upward from a process for an agent's launcher or claude. It returns the pid of the record's own one, or
// that the nearest is another agent's.
func (f Finder) nearest(r *agent.Record, pid int) (own int, other bool) {
	for _, ancestor := range f.Machine.AncestorsOf(pid) {
		if ancestor == r.Process.PID || ancestor == r.Process.Launcher.PID {
			return ancestor, false
		}
		if f.Launches(ancestor) || f.isAnothers(r, ancestor) {
			return 0, true
		}
	}
	return 0, false
}

// isAnothers reports whether the record of another agent of this project names a process.
func (f Finder) isAnothers(r *agent.Record, pid int) bool {
	id, err := f.Machine.Identify(pid)
	if err != nil || !f.Store.Exists() {
		return false
	}
	named, err := f.AgentsOf(f.Store, id.PID, id.StartTicks)
	return err != nil || slices.ContainsFunc(named, func(other agent.Handle) bool { return !other.Same(r.Handle) })
}

// inBackground reports whether a process is Claude's background daemon, or a descendant of it. The daemon has the
// mark of the agent that needed it first, and serves every claude of the user.
func (f Finder) inBackground(r *agent.Record, pid int) bool {
	for _, ancestor := range f.Machine.AncestorsOf(pid) {
		if ancestor == r.Process.PID || ancestor == r.Process.Launcher.PID {
			return false
		}
		if words, err := f.Machine.Cmdline(ancestor); err == nil && cmdline.IsBackground(words) {
			return true
		}
	}
	return false
}
