package teardown

import (
	"context"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/observe"
)

// checkMarks checks that the processes of a record belong to its start, before one of them is signalled. A matching
// identity is not enough: a record can be edited, and within one clock tick a pid can get a new owner. Errors:
// Conflict.
func (t teardown) checkMarks(ctx context.Context, r *agent.Record) error {
	for _, id := range []agent.Identity{r.Process.LauncherIdentity(), r.Process.Identity} {
		if !t.project.Machine.IsAlive(id) || t.project.Lineage().IsOf(r, id.PID) {
			continue
		}
		t.project.Machine.WaitGone(ctx, id, observe.KillNotice) // an ending process has no environment
		if !t.project.Machine.IsAlive(id) {
			continue
		}
		unmarked := fail.Errorf(fail.Conflict, "process %d is recorded as the agent's, but %s; it was not signalled", id.PID, lacking(r)).
			Hint("to look at it: ps -fp %d", id.PID)
		return t.project.HintAside(unmarked, r, "if it is not the agent's")
	}
	return t.checkArrival(r)
}

// checkArrival checks, for a start whose launcher is not recorded yet, that its processes do not belong to the agent
// from which the record was copied. Errors: Conflict.
func (t teardown) checkArrival(r *agent.Record) error {
	if arrived(r) {
		return nil
	}
	found, err := t.project.Lineage().OfStart(r.Process.Invocation)
	if err != nil {
		return err
	}
	for _, id := range found {
		if t.project.Lineage().OfOriginal(r, id.PID) {
			return t.errCopied(r, id.PID)
		}
	}
	return nil
}

// errCopied returns the error for a process that a record names only because it was copied.
func (t teardown) errCopied(r *agent.Record, pid int) error {
	copied := fail.Errorf(fail.Conflict, "process %d belongs to another agent or project with the same start; it was not signalled", pid)
	return t.project.HintAside(copied, r, "if the record was copied")
}

// lacking says what a process that is recorded as the agent's lacks.
func lacking(r *agent.Record) string {
	if r.Process.Adopted != nil {
		return "Claude's registry does not confirm that it is the one that was adopted here"
	}
	return "it does not have the mark of the start"
}
