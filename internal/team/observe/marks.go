package observe

import (
	"path/filepath"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store"
)

// Marked reports whether a process belongs to the record's start. The launcher must be
// running the handle in this project. Claude must carry the invocation, or be the child of
// that launcher, because a wrapper may give it another environment. A record that was copied,
// with its project or without, names processes of the original, which do not belong to it.
func (o *Observer) Marked(r *agent.Record, pid int) bool {
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
func (o *Observer) OfOriginal(r *agent.Record, pid int) bool {
	if asked, _ := o.Machine.Variable(pid, agent.LaunchVariable); asked == string(r.Process.Invocation) || o.runs(pid, r.Handle) {
		// A launcher may have the variables of an agent whose shell started the tmux server:
		// only its command line and its working directory identify it.
		words, err := o.Machine.Cmdline(pid)
		cwd, _ := o.Machine.Cwd(pid)
		return err == nil && len(words) > 0 && !names(words, r.Handle) || o.IsOriginal(cwd, r.Handle)
	}
	return o.OfOtherAgent(r, pid)
}

// OfOtherAgent reports whether a process was started as an agent of another name, or of another
// project that has the agent too.
func (o *Observer) OfOtherAgent(r *agent.Record, pid int) bool {
	handle, named := o.Machine.Variable(pid, agent.HandleVariable)
	root, _ := o.Machine.Variable(pid, agent.RootVariable)
	return named && !agent.Handle(handle).Same(r.Handle) || o.IsOriginal(root, r.Handle)
}

// IsOriginal reports whether a folder is another project that has the agent too.
func (o *Observer) IsOriginal(folder string, handle agent.Handle) bool {
	return folder != "" && !SameFolder(folder, o.Store.Project()) && store.Has(folder, handle)
}

// Carries reports whether a process has the invocation of the record's start in its
// environment.
func (o *Observer) Carries(r *agent.Record, pid int) bool {
	invocation, _ := o.Machine.Variable(pid, agent.InvocationVariable)
	return invocation == string(r.Process.Invocation)
}

// Foreground is the option that makes a spawn the launcher too.
const Foreground = "foreground"

// runs reports whether a process is the launcher of the handle: this program with the verb
// run, or with a spawn in the foreground. A launcher that a person started carries no
// invocation, because that is minted later.
func (o *Observer) runs(pid int, handle agent.Handle) bool {
	words, err := o.Machine.Cmdline(pid)
	return err == nil && launches(words) && o.Machine.Program(pid) == filepath.Base(o.Program) && names(words, handle)
}

// Launches reports whether a process is a launcher, of whichever agent: this program with
// the verb run, or with a spawn in the foreground.
func (o *Observer) Launches(pid int) bool {
	words, err := o.Machine.Cmdline(pid)
	return err == nil && o.Machine.Program(pid) == filepath.Base(o.Program) && launches(words)
}

// launches reports whether a command line is a launcher's. The word run may also be a verb of runbook or schedule.
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

// InForeignTmux reports whether a process is a tmux server, or lives in a pane that is
// not the agent's. A server that came up from the agent's shell hands the agent's mark
// to all of its panes, and any of them may be a person's.
func (o *Observer) InForeignTmux(r *agent.Record, pid int) bool {
	leader := 0 // of the pane
	for _, ancestor := range o.Machine.AncestorsOf(pid) {
		if ancestor == r.Process.PID || ancestor == r.Process.Launcher.PID {
			return false
		}
		if o.Machine.Name(ancestor) == TmuxServerName {
			// A launcher that has not written down who it is yet leads our pane all the same.
			return leader == 0 || !o.Carries(r, leader) || !o.runs(leader, r.Handle)
		}
		leader = ancestor
	}
	return false
}
