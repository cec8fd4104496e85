package teardown

import (
	"context"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/team/observe"
)

// processes implements [Processes] with the kernel's processes.
type processes struct{ project *observe.Project }

// Check calls [machine.Machine.Check].
func (ps processes) Check(id agent.Identity) (machine.Liveness, error) {
	return ps.project.Machine.Check(id)
}

// Stop calls [machine.Machine.StopAll].
func (ps processes) Stop(ctx context.Context, grace time.Duration, ids ...agent.Identity) error {
	return ps.project.Machine.StopAll(ctx, ids, grace)
}

// Below returns the descendants of the agent's claude and launcher that belong to its start.
func (ps processes) Below(r *agent.Record) ([]agent.Identity, error) {
	var found []agent.Identity
	for _, parent := range []agent.Identity{r.Process.LauncherIdentity(), r.Process.Identity} {
		if !ps.project.Machine.IsAlive(parent) {
			continue
		}
		ids, err := ps.project.Machine.Descendants(parent.PID)
		if err != nil {
			return nil, err
		}
		found = append(found, ids...)
	}
	return ps.ownOnly(r, found), nil
}

// Left returns the processes that this start left behind, whatever their parent is now.
func (ps processes) Left(r *agent.Record) ([]agent.Identity, error) {
	found, err := ps.project.Machine.Carrying(agent.InvocationVariable, string(r.Process.Invocation))
	return ps.ownOnly(r, found), err
}

// ownOnly drops processes that only look like the agent's: other agents that it started, processes in other tmux
// sessions, Claude's background daemon, and this command itself.
func (ps processes) ownOnly(r *agent.Record, ids []agent.Identity) []agent.Identity {
	ancestors := ps.project.Machine.Ancestors()
	seen := map[int]bool{r.Process.PID: true, r.Process.Launcher.PID: true}
	return slices.DeleteFunc(ids, func(id agent.Identity) bool {
		other, carries := ps.project.Machine.Variable(id.PID, agent.InvocationVariable)
		foreign := carries && other != string(r.Process.Invocation) || ps.project.OfOtherAgent(r, id.PID)
		drop := foreign || seen[id.PID] || slices.Contains(ancestors, id.PID) || ps.project.InForeignTmux(r, id.PID) || ps.inBackground(r, id.PID)
		seen[id.PID] = true
		return drop
	})
}

// inBackground reports whether a process is Claude's background daemon, or a descendant of it. The daemon has the
// mark of the agent that needed it first, and serves every claude of the user.
func (ps processes) inBackground(r *agent.Record, pid int) bool {
	for _, ancestor := range ps.project.Machine.AncestorsOf(pid) {
		if ancestor == r.Process.PID || ancestor == r.Process.Launcher.PID {
			return false
		}
		if cmdline, err := ps.project.Machine.Cmdline(ancestor); err == nil && claude.IsBackground(cmdline) {
			return true
		}
	}
	return false
}
