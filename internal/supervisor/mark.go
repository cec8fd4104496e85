package supervisor

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/launcher"
	"nbs-worker/internal/proc"
	"nbs-worker/internal/store"
)

// checkMarks checks that the processes a record names are of its start, before one of
// them is signalled. An identity that fits is not enough: a record can be edited, and
// within one clock tick a pid can become another's. Errors: Conflict.
func (s *Supervisor) checkMarks(ctx context.Context, r *agent.Record) error {
	for _, id := range []agent.Identity{r.Process.LauncherIdentity(), r.Process.Identity} {
		if !alive(id) || s.marked(r, id.PID) {
			continue
		}
		waitGone(ctx, id, killNotice) // one that is just ending has no environment any more
		if !alive(id) {
			continue
		}
		unmarked := agent.Errorf(agent.Conflict, "process %d is recorded as the agent's and %s; it was left alone", id.PID, lacking(r)).
			Hint("to see what it is: ps -fp %d", id.PID)
		return s.hintAside(unmarked, r, "when it is not the agent's")
	}
	return s.checkArrival(r)
}

// checkArrival checks that a start of which nobody has come forward yet is not that of the
// agent from which the record was copied meanwhile. Errors: Conflict.
func (s *Supervisor) checkArrival(r *agent.Record) error {
	if arrived(r) {
		return nil
	}
	found, err := proc.Carrying(launcher.InvocationVariable, string(r.Process.Invocation))
	if err != nil {
		return err
	}
	for _, id := range found {
		if s.ofOriginal(r, id.PID) {
			return s.errCopied(r, id.PID)
		}
	}
	return nil
}

// errCopied is the refusal to end what a record knows because it was copied.
func (s *Supervisor) errCopied(r *agent.Record, pid int) error {
	copied := agent.Errorf(agent.Conflict, "process %d is of the same start, and of another agent or project; it was left alone", pid)
	return s.hintAside(copied, r, "when the record was copied")
}

// marked tells whether a process is of the record's start: its launcher is at work on the
// handle in this project; claude carries the invocation, or is the child of that launcher,
// for a wrapper may give it another environment. A record that was copied, with its project
// or without, names the processes of the original.
func (s *Supervisor) marked(r *agent.Record, pid int) bool {
	if r.Process.Adopted != nil {
		return s.vouched(r)
	}
	if s.ofOriginal(r, pid) {
		return false
	}
	if pid == r.Process.Launcher.PID {
		return s.runs(pid, r.Handle)
	}
	if carries(r, pid) {
		return true
	}
	chain := proc.AncestorsOf(pid)
	return len(chain) > 1 && chain[1] == r.Process.Launcher.PID && s.marked(r, chain[1])
}

// ofOriginal tells whether a process is of an agent from which the record was copied.
func (s *Supervisor) ofOriginal(r *agent.Record, pid int) bool {
	if asked, _ := proc.Variable(pid, launcher.LaunchVariable); asked == string(r.Process.Invocation) || s.runs(pid, r.Handle) {
		// A launcher may have the variables of an agent whose shell started the tmux server:
		// what it was asked for, and where it works, tells.
		words, err := proc.Cmdline(pid)
		cwd, _ := proc.Cwd(pid)
		return err == nil && len(words) > 0 && !names(words, r.Handle) || s.isOriginal(cwd, r.Handle)
	}
	handle, named := proc.Variable(pid, launcher.HandleVariable)
	root, _ := proc.Variable(pid, launcher.RootVariable)
	return named && !agent.Handle(handle).Same(r.Handle) || s.isOriginal(root, r.Handle)
}

// isOriginal tells whether a folder is another project that has the agent too.
func (s *Supervisor) isOriginal(folder string, handle agent.Handle) bool {
	return folder != "" && !sameFolder(folder, s.Store.Project()) && store.Has(folder, handle)
}

// sameFolder tells whether two paths lead to one folder: it may be mounted twice.
func sameFolder(a, b string) bool {
	if a == b {
		return true
	}
	at, err1 := os.Stat(a)
	bt, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(at, bt)
}

// carries tells whether a process has the invocation of the record's start in its
// environment.
func carries(r *agent.Record, pid int) bool {
	invocation, _ := proc.Variable(pid, launcher.InvocationVariable)
	return invocation == string(r.Process.Invocation)
}

// runs tells whether a process is the launcher of the handle: this program, at work on
// run. One that a person started carries no invocation: it is minted later.
func (s *Supervisor) runs(pid int, handle agent.Handle) bool {
	words, err := proc.Cmdline(pid)
	return err == nil && proc.Program(pid) == filepath.Base(s.Program) && slices.Contains(words, "run") && names(words, handle)
}

func names(words []string, handle agent.Handle) bool {
	return slices.ContainsFunc(words, func(word string) bool { return agent.Handle(word).Same(handle) })
}
