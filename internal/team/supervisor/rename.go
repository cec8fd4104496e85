package supervisor

import (
	"context"
	"errors"
	"fmt"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/launch"
	"nbs-worker/internal/team/observe"
)

// Rename says how to give an agent another handle.
type Rename struct {
	From, To agent.Handle
	Force    bool // also in the middle of a turn or at a dialog

	// Remembered moves what the memory has about the agent; nil: there is no memory. It may be called again.
	Remembered func(context.Context) error
	launch.Start
}

// Renamed is the result of a rename.
type Renamed struct {
	Record  agent.Record
	From    agent.Handle
	Again   *Started // its start under the new handle; nil: it did not run
	Moved   int      // messages of its outbox
	Dropped int      // messages of its outbox without the user's seal; the journal has them
}

// Rename gives an agent another handle. A running agent is ended and resumed, because the handle is in the environment
// of its processes; its conversation goes on. Each step can be repeated: the record says what a killed rename wanted,
// and the same call completes it.
func (s *Supervisor) Rename(ctx context.Context, rename Rename) (Renamed, error) {
	if rename.From.Same(rename.To) {
		return Renamed{}, fail.Errorf(fail.BadInput, "%s and %s are the same handle", rename.From, rename.To)
	}
	renamed, err := s.rename(ctx, rename)
	if err != nil || !renamed.Record.Rename.Runs {
		return renamed, err
	}
	if !s.Project.LookAt(ctx, renamed.Record).Status.Running() { // a killed rename may have started it
		started, err := s.Resume(ctx, rename.To, Resume{Start: rename.Start})
		renamed.Again = &started
		if err != nil {
			return renamed, fail.Errorf(fail.KindOf(err), "it is renamed, but was not started again: %w", err).
				Hint("nbs-worker resume %s", rename.To)
		}
	}
	renamed.Record, err = s.Project.Store.Update(context.WithoutCancel(ctx), rename.To, func(r *agent.Record) error {
		if r.Rename != nil {
			r.Rename = &agent.Rename{From: r.Rename.From}
		}
		return nil
	})
	return renamed, err
}

// rename does all but the start.
func (s *Supervisor) rename(ctx context.Context, rename Rename) (Renamed, error) {
	for _, handle := range []agent.Handle{rename.From, rename.To} {
		unlock, err := s.awaitVerb(ctx, handle, "rename")
		if err != nil {
			return Renamed{}, err
		}
		defer unlock()
	}
	ctx = context.WithoutCancel(ctx)
	old, err := s.Project.Store.Load(rename.From)
	if fail.KindOf(err) == fail.NotFound {
		return s.renamedBefore(ctx, rename, err)
	}
	if err == nil {
		old, err = s.intend(ctx, &old, rename)
	}
	if err != nil {
		return Renamed{}, err
	}
	stopped, err := s.stop(ctx, old.Handle, s.mayStop, func(*agent.Record) {})
	if err != nil {
		return Renamed{}, err
	}
	old = stopped.Record
	unkept := s.Keeper.Keep(ctx, &old) // its launcher may have been killed before it could
	renamed := Renamed{From: old.Handle}
	if rename.Remembered != nil {
		if err := rename.Remembered(ctx); err != nil {
			return renamed, fail.Errorf(fail.KindOf(err), "what is remembered about it could not be moved: %w", err).
				Hint("to complete the rename: nbs-worker rename %s %s", old.Handle, rename.To)
		}
	}
	if renamed.Record, err = s.insertRenamed(ctx, &old, rename.To); err != nil {
		return renamed, err
	}
	if err := s.moveBelongings(ctx, &old, &renamed); err != nil {
		return renamed, err
	}
	if err := s.Project.Store.Remove(ctx, old.Handle); err != nil {
		return renamed, errors.Join(err, unkept)
	}
	if err := s.moveOutbox(ctx, &old, &renamed); err != nil { // what has come until its record was removed
		return renamed, err
	}
	s.forgetOld(ctx, old.Handle)
	if r := &renamed.Record; r.OwnWorktree != (agent.OwnWorktree{}) {
		tree := s.treeOf(r)
		_ = tree.Lock(ctx) // its lock holds, and names the old handle; doctor --fix repeats this
	}
	return renamed, nil
}

// renamedBefore returns the agent if an earlier rename has already removed the old record; otherwise the error that
// there is no such agent.
func (s *Supervisor) renamedBefore(ctx context.Context, rename Rename, absent error) (Renamed, error) {
	r, err := s.Project.Store.Load(rename.To)
	if err != nil || r.Rename == nil || !r.Rename.From.Same(rename.From) {
		return Renamed{}, absent
	}
	old, renamed := r, Renamed{From: rename.From, Record: r}
	old.Handle = rename.From
	if err := s.moveOutbox(ctx, &old, &renamed); err != nil {
		return renamed, err
	}
	s.forgetOld(ctx, rename.From)
	return renamed, nil
}

// intend checks everything that can be checked, and then writes into the old record what is wanted.
func (s *Supervisor) intend(ctx context.Context, old *agent.Record, rename Rename) (agent.Record, error) {
	if err := s.Project.Store.CheckSeal(old); err != nil { // the new record gets a new seal
		return *old, err
	}
	if err := s.Caller.CheckPerson("rename an agent"); err != nil {
		return *old, err
	}
	if old.IsLeaving() {
		return *old, errLeaving(old)
	}
	if old.Unfinished() && !old.Rename.To.Same(rename.To) {
		return *old, errHalfRenamed(old)
	}
	if err := s.checkName(old, rename.To); err != nil {
		return *old, err
	}
	sight := s.Project.LookAt(ctx, *old)
	status := sight.Status
	if status.Running() && status.State != agent.Idle && !rename.Force {
		return *old, fail.Errorf(fail.Conflict, "the agent is %s, and a rename would end that: claude is started again", status.Word()).
			Hint("wait until it is idle: nbs-worker wait %s", old.Handle).
			Hint("to break off what it does: repeat the command with --force")
	}
	runs := runsOrRestarts(&sight)
	if runs && (old.Process == nil || old.Process.Tmux == nil) {
		return *old, fail.Errorf(fail.Conflict, "the agent runs in a terminal outside of tmux, and could not be started there again").
			Hint("to end it first: nbs-worker stop %s", old.Handle)
	}
	return s.Project.Store.Update(ctx, old.Handle, func(r *agent.Record) error {
		if !r.Unfinished() {
			r.Rename = &agent.Rename{To: rename.To, Desired: r.LaunchDesired()}
		}
		r.Rename.Runs = r.Rename.Runs || runs
		return nil
	})
}

// runsOrRestarts reports whether an agent runs, or its launcher waits to start it again. A verb that ends it, and its
// launcher with it, starts it again itself.
func runsOrRestarts(sight *observe.Sight) bool {
	return sight.Status.Running() || sight.Status.State == agent.Backoff && sight.Job == nil // a job in the queue stays there
}

// checkName checks that the new handle is free, or taken by an earlier try of the same rename.
func (s *Supervisor) checkName(old *agent.Record, to agent.Handle) error {
	there, err := s.Project.Store.Load(to)
	if err == nil && old.Unfinished() && there.Rename != nil && there.Rename.From.Same(old.Handle) && there.SessionID == old.SessionID {
		return nil
	}
	return s.Project.Store.CheckFree(to)
}

// errHalfRenamed is the error for an agent whose rename has not come to its end.
func errHalfRenamed(r *agent.Record) error {
	return fail.Errorf(fail.Conflict, "the agent is being renamed to %s, and that was not completed", r.Rename.To).
		Hint("to complete it: nbs-worker rename %s %s", r.Handle, r.Rename.To)
}

// insertRenamed writes the new record, unless an earlier try has.
func (s *Supervisor) insertRenamed(ctx context.Context, old *agent.Record, to agent.Handle) (agent.Record, error) {
	if there, err := s.Project.Store.Load(to); err == nil {
		return there, nil // checked by checkName
	}
	r := *old
	if r.Schema == 0 {
		if err := s.completeLegacy(&r); err != nil {
			return r, err
		}
	}
	r.Handle, r.Desired = to, old.Rename.Desired
	r.Rename = &agent.Rename{From: old.Handle, Runs: old.Rename.Runs}
	r.TmuxSession = s.starter().SessionName(&r)
	if err := s.Project.Note(ctx, "rename", old, fmt.Sprintf("to %s", to)); err != nil {
		return r, err
	}
	if err := s.Project.Store.Insert(ctx, r); err != nil {
		return r, err
	}
	return r, s.Project.Note(ctx, "rename", &r, fmt.Sprintf("from %s", old.Handle))
}

// moveBelongings moves what is kept under the handle of an agent beside its record.
func (s *Supervisor) moveBelongings(ctx context.Context, old *agent.Record, renamed *Renamed) error {
	from, to := s.Project.Store, renamed.Record.Handle
	if report := from.Report(old.Handle); report.Invocation != "" {
		if err := from.UpdateReport(ctx, to, func(r *agent.Report) { *r = report }); err != nil {
			return err
		}
	}
	if err := from.Costs().Rename(ctx, old.Handle, to, s.Project.Now()); err != nil {
		return err
	}
	if err := s.moveOutbox(ctx, old, renamed); err != nil {
		return err
	}
	if at, looked := from.Seen().All()[old.Handle.Key()]; looked {
		return from.Seen().Mark(ctx, at, to)
	}
	return nil
}

// moveOutbox moves the waiting messages of an agent.
func (s *Supervisor) moveOutbox(ctx context.Context, old *agent.Record, renamed *Renamed) error {
	moved, unsealed, err := s.Project.Store.Outbox(old.Handle).MoveTo(ctx, s.Project.Store.Outbox(renamed.Record.Handle))
	renamed.Moved += moved
	if err != nil || len(unsealed) == 0 {
		return err
	}
	dropped, err := s.dropOutbox(ctx, old)
	renamed.Dropped += dropped
	return err
}

// forgetOld removes what nothing reads once no agent has the handle.
func (s *Supervisor) forgetOld(ctx context.Context, handle agent.Handle) {
	_ = s.Project.Store.RemoveReport(handle)
	_ = s.Project.Store.Outbox(handle).ForgetLeft()
	_ = s.Project.Store.Runs().DropAttempt(handle)
	_ = s.Project.Store.Seen().Forget(ctx, handle)
}
