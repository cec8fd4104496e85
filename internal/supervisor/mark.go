package supervisor

import (
	"context"
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/launcher"
	"nbs-worker/internal/proc"
)

// checkMarks checks that the processes a record names are of its start, before one of
// them is signalled. An identity that fits is not enough: a record can be edited, and
// within one clock tick a pid can become another's. Errors: Conflict.
func (s *Supervisor) checkMarks(ctx context.Context, r *agent.Record) error {
	for _, id := range []agent.Identity{r.Process.LauncherIdentity(), r.Process.Identity} {
		if !alive(id) || marked(r, id.PID) {
			continue
		}
		waitGone(ctx, id, killNotice) // one that is just ending has no environment any more
		if !alive(id) {
			continue
		}
		unmarked := agent.Errorf(agent.Conflict, "process %d is recorded as the agent's and does not bear the mark of its start; it was left alone", id.PID).
			Hint("to see what it is: ps -fp %d", id.PID)
		return s.hintAside(unmarked, r, "when it is not the agent's")
	}
	return nil
}

// marked tells whether a process is of the record's start: it carries the invocation,
// or is the child of a launcher that is; a wrapper may give claude another environment.
func marked(r *agent.Record, pid int) bool {
	if carries(r, pid) || pid == r.Process.Launcher.PID && runs(pid, r.Handle) {
		return true
	}
	chain := proc.AncestorsOf(pid)
	return len(chain) > 1 && pid == r.Process.PID && chain[1] == r.Process.Launcher.PID && marked(r, chain[1])
}

// carries tells whether a process has the invocation of the record's start in its
// environment.
func carries(r *agent.Record, pid int) bool {
	invocation, _ := proc.Variable(pid, launcher.InvocationVariable)
	return invocation == string(r.Process.Invocation)
}

// runs tells whether a process is the launcher of the handle. One that a person started
// carries no invocation: it is minted later.
func runs(pid int, handle agent.Handle) bool {
	words, err := proc.Cmdline(pid)
	return err == nil && slices.Contains(words, "run") &&
		slices.ContainsFunc(words, func(word string) bool { return agent.Handle(word).Same(handle) })
}
