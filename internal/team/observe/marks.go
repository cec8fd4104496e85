package observe

import (
	"path/filepath"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store"
)

// Marked reports whether a process belongs to the record's start. The launcher must be running the handle in this
// project. Claude must have the invocation in its environment, or be a child of that launcher, because a wrapper may
// give it another environment. If a record was copied, with its project or alone, the processes that it names belong
// to the original.
func (o *Project) Marked(r *agent.Record, pid int) bool {
	if r.Process.Adopted != nil {
		return o.stillAdopted(r)
	}
	if o.OfOriginal(r, pid) {
		return false
	}
	if pid == r.Process.Launcher.PID {
		return o.runs(pid, r.Handle)
	}
	if o.Carries(r, pid) {
		return true
	}
	chain := o.Machine.AncestorsOf(pid)
	return len(chain) > 1 && chain[1] == r.Process.Launcher.PID && o.Marked(r, chain[1])
}

// OfOriginal reports whether a process belongs to the agent from which the record was copied.
func (o *Project) OfOriginal(r *agent.Record, pid int) bool {
	if asked, _ := o.Machine.Variable(pid, agent.LaunchVariable); asked == string(r.Process.Invocation) || o.runs(pid, r.Handle) {
		// A launcher may have the variables of the agent whose shell started the tmux server. Only its command line
		// and its working directory identify it.
		words, err := o.Machine.Cmdline(pid)
		cwd, _ := o.Machine.Cwd(pid)
		return err == nil && len(words) > 0 && !names(words, r.Handle) || o.IsOriginal(cwd, r.Handle)
	}
	return o.OfOtherAgent(r, pid)
}

// OfOtherAgent reports whether a process was started as an agent with another name, or as the agent of another
// project that has the same agent.
func (o *Project) OfOtherAgent(r *agent.Record, pid int) bool {
	handle, named := o.Machine.Variable(pid, agent.HandleVariable)
	root, _ := o.Machine.Variable(pid, agent.RootVariable)
	return named && !agent.Handle(handle).Same(r.Handle) || o.IsOriginal(root, r.Handle)
}

// IsOriginal reports whether a folder is another project that has the same agent.
func (o *Project) IsOriginal(folder string, handle agent.Handle) bool {
	return folder != "" && !SameFolder(folder, o.Store.Project()) && store.Has(folder, handle)
}

// Carries reports whether a process has the invocation of the record's start in its
// environment.
func (o *Project) Carries(r *agent.Record, pid int) bool {
	invocation, _ := o.Machine.Variable(pid, agent.InvocationVariable)
	return invocation == string(r.Process.Invocation)
}

// Foreground is the option that makes a spawn the launcher too.
const Foreground = "foreground"

// runs reports whether a process is the launcher of the handle: this program with the verb run, or with a spawn in
// the foreground. A launcher that a person started has no invocation in its environment, because it creates the
// invocation itself.
func (o *Project) runs(pid int, handle agent.Handle) bool {
	words, err := o.Machine.Cmdline(pid)
	return err == nil && launches(words) && o.Machine.Program(pid) == filepath.Base(o.Program) && names(words, handle)
}

// Launches reports whether a process is the launcher of any agent: this program with the verb run, or with a spawn
// in the foreground.
func (o *Project) Launches(pid int) bool {
	words, err := o.Machine.Cmdline(pid)
	return err == nil && o.Machine.Program(pid) == filepath.Base(o.Program) && launches(words)
}

// launches reports whether a command line is that of a launcher. The word run may also be a verb of runbook or
// schedule.
func launches(words []string) bool {
	run := slices.Index(words, "run")
	others := func(word string) bool { return word == "runbook" || word == "schedule" }
	return run > 0 && !slices.ContainsFunc(words[:run], others) || slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, "--"+Foreground) })
}

func names(words []string, handle agent.Handle) bool {
	return slices.ContainsFunc(words, func(word string) bool { return agent.Handle(word).Same(handle) })
}

// TmuxServerName is the name of a tmux server's process.
const TmuxServerName = "tmux: server"

// InForeignTmux reports whether a process is a tmux server, or runs in a pane that is not the agent's. If an agent's
// shell started a tmux server, all panes of that server have the agent's mark, also those of a person.
func (o *Project) InForeignTmux(r *agent.Record, pid int) bool {
	leader := 0 // of the pane
	for _, ancestor := range o.Machine.AncestorsOf(pid) {
		if ancestor == r.Process.PID || ancestor == r.Process.Launcher.PID {
			return false
		}
		if o.Machine.Name(ancestor) == TmuxServerName {
			// A launcher that has not recorded itself yet already leads our pane.
			return leader == 0 || !o.Carries(r, leader) || !o.runs(leader, r.Handle)
		}
		leader = ancestor
	}
	return false
}
