package supervisor

import (
	"context"
	"errors"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/teardown"
	"nbs-worker/internal/team/worktree"
)

// Stopped is the result of a stop or a dismissal.
type Stopped struct {
	Record  agent.Record
	Was     agent.Status // the state of the agent before
	Unsaved string       // why its last words may not be in its transcript; "": they are
	Kept    []string     // paths of the transcripts that stay in the archive, after a dismissal
	Unkept  error        // why a transcript could not be kept or removed
	Dropped int          // messages of its outbox, after a dismissal; the journal has them

	Tree     *worktree.Removed // its worktree, if that was removed
	TreeLeft string            // where its worktree, or a part of it, stays after a dismissal; ""
	TreeGone bool              // its worktree is not in its place
}

// was sets the state of an agent before its job was ended.
func (s *Stopped) was(before *agent.Status) {
	if before != nil {
		s.Was = *before
	}
}

// Stop ends an agent and keeps its record. The stop is recorded before the first signal, so that nothing starts the
// agent again in between.
func (s *Supervisor) Stop(ctx context.Context, handle agent.Handle) (Stopped, error) {
	return s.halt(ctx, handle, false)
}

// Down is Stop for a whole team: up starts the agent again. If a person has stopped the agent before, that stands.
func (s *Supervisor) Down(ctx context.Context, handle agent.Handle) (Stopped, error) {
	return s.halt(ctx, handle, true)
}

func (s *Supervisor) halt(ctx context.Context, handle agent.Handle, down bool) (Stopped, error) {
	was, err := s.endJob(ctx, handle, func(r *agent.Record) error { return s.mayStop(&r.Spec) })
	if err != nil {
		return Stopped{}, err
	}
	unlock, err := s.awaitVerb(ctx, handle, "stop")
	if err != nil {
		return Stopped{}, err
	}
	defer unlock()
	ctx = context.WithoutCancel(ctx) // what has begun is completed, whatever the caller does
	mark := func(r *agent.Record) {
		r.Downed = down && (r.Downed || r.Desired != agent.DesiredStopped || was != nil && !was.Down())
	}
	stopped, err := s.stop(ctx, handle, s.mayStop, mark)
	if err != nil {
		return stopped, err
	}
	stopped.was(was)
	stopped.Unkept = s.Keeper.Keep(ctx, &stopped.Record) // its launcher may have been killed before it could
	if err := s.Project.Note(ctx, "stop", &stopped.Record, "was "+stopped.Was.Word()); err != nil {
		return stopped, butDone(err, "it was ended and marked as stopped, but the journal does not say so")
	}
	return stopped, nil
}

// Dismiss ends an agent and removes its record. It also removes its archived conversations, unless keep is set. The
// journal keeps the session id. A worktree stays, and is unlocked.
func (s *Supervisor) Dismiss(ctx context.Context, handle agent.Handle, keep bool) (Stopped, error) {
	return s.dismiss(ctx, handle, keep, false)
}

// DismissWithTree is Dismiss, and removes the worktree that was made for the agent, if nothing in it can be lost.
// Otherwise the agent is not ended, or, if that shows only after its end, its record stays. Errors: Conflict.
func (s *Supervisor) DismissWithTree(ctx context.Context, handle agent.Handle, keep bool) (Stopped, error) {
	return s.dismiss(ctx, handle, keep, true)
}

func (s *Supervisor) dismiss(ctx context.Context, handle agent.Handle, keep, withTree bool) (Stopped, error) {
	was, err := s.endJob(ctx, handle, func(r *agent.Record) error { return s.checkDismiss(ctx, r, withTree) })
	if err != nil {
		return Stopped{}, err
	}
	unlock, err := s.awaitVerb(ctx, handle, "dismiss")
	if err != nil {
		return Stopped{}, err
	}
	defer unlock()
	ctx = context.WithoutCancel(ctx)
	r, err := s.Project.Store.Load(handle)
	if err == nil {
		err = s.checkDismiss(ctx, &r, withTree)
	}
	if err != nil {
		return Stopped{}, err
	}
	stopped, err := s.stop(ctx, handle, s.Caller.CheckDismiss, func(*agent.Record) {})
	if err == nil {
		err = s.noteArrival(&stopped.Record)
	}
	if err != nil {
		return stopped, err
	}
	stopped.was(was)
	if withTree {
		if stopped.Tree, err = s.removeTree(ctx, &stopped.Record); err != nil {
			return stopped, notDismissed("it was ended, and its record stays", handle, err)
		}
	}
	if keep {
		stopped.Unkept = s.Keeper.Keep(ctx, &stopped.Record)
	}
	if stopped.Dropped, err = s.dropOutbox(ctx, &stopped.Record); err != nil {
		return stopped, butDone(err, "it was ended, and its record stays: the messages in its outbox could not be written down and removed")
	}
	if err := s.Project.Note(ctx, "dismiss", &stopped.Record, "was "+stopped.Was.Word()); err != nil {
		return stopped, butDone(err, "it was ended, and its record stays: the journal could not take its session id")
	}
	if r = stopped.Record; !withTree && r.OwnWorktree != (agent.OwnWorktree{}) {
		tree := s.treeOf(&r)
		stopped.TreeLeft = tree.Left()
		stopped.TreeGone = stopped.TreeLeft == ""
		_ = tree.Unlock(ctx) // its lock holds only what git would forget
	}
	if err := s.Project.Store.Remove(ctx, handle); err != nil {
		return stopped, butDone(err, "it was ended, but its record could not be removed")
	}
	return stopped, s.forgetDismissed(ctx, &stopped, keep)
}

// forgetDismissed removes what is kept of an agent whose record was removed.
func (s *Supervisor) forgetDismissed(ctx context.Context, stopped *Stopped, keep bool) error {
	r := &stopped.Record
	late, err := s.dropOutbox(ctx, r) // what has come until its record was removed
	if stopped.Dropped += late; err != nil {
		err = butDone(err, "it was dismissed, but the messages that have just come could not be written down and removed")
	}
	s.forgetOld(ctx, r.Handle)
	_ = s.Project.Store.Costs().Close(ctx, r.Handle, s.Project.Now())
	if keep {
		stopped.Kept = s.Keeper.KeptPaths(r)
	} else {
		stopped.Kept, stopped.Unkept = s.Keeper.Discard(r)
	}
	return err
}

// checkDismiss makes the checks before an agent is ended to be dismissed.
func (s *Supervisor) checkDismiss(ctx context.Context, r *agent.Record, withTree bool) error {
	switch {
	case r.IsLeaving():
		return errLeaving(r)
	case withTree:
		return s.checkTree(ctx, r.Handle)
	}
	return s.Caller.CheckDismiss(&r.Spec)
}

// butDone adds to an error what was done before it.
func butDone(err error, done string) error {
	return fail.Errorf(fail.KindOf(err), "%s: %w", done, err)
}

func (s *Supervisor) mayStop(spec *agent.Spec) error { return s.Caller.CheckAct(spec, "stop") }

// stop makes all its checks before it writes, and writes before the first signal. If it cannot write, it still ends
// the agent: a full disk must not keep an agent alive that fills it. mark completes the record of the stopped agent.
func (s *Supervisor) stop(ctx context.Context, handle agent.Handle, allowed func(*agent.Spec) error, mark func(*agent.Record)) (Stopped, error) {
	r, err := s.Project.Store.Load(handle)
	if err == nil {
		err = allowed(&r.Spec)
	}
	if err != nil {
		return Stopped{}, err
	}
	sight := s.Project.LookClosely(ctx, []agent.Record{r})[0] // it is ended even if tmux does not answer; teardown.End reports that
	r = sight.Record
	if err := teardown.CheckSelf(s.Project, &r, sight.Pane); err != nil {
		return Stopped{}, err
	}
	if err := teardown.CheckEndable(ctx, s.Project, &r); err != nil {
		return Stopped{}, err
	}
	written, unwritten := s.update(ctx, handle, func(r *agent.Record) error {
		mark(r)
		r.Desired = agent.DesiredStopped
		s.follow(r)
		config, err := s.Project.ConfigOf(r)
		if err == nil {
			observe.NoteTranscript(r, config, s.Project.Seconds())
		}
		return err
	})
	if unwritten == nil {
		r = written
	} else {
		unwritten = s.tellMove(r, unwritten) // after its end, nothing shows the move
	}
	// A launcher that is just starting finds no launch file, or reads in the record that it must not start.
	dropped := s.Project.Store.DropLaunch(handle)
	if err := teardown.End(ctx, s.Project, r); err != nil {
		return Stopped{}, errors.Join(err, unwritten, dropped)
	}
	stopped := Stopped{Record: r, Was: sight.Status, Unsaved: sight.Unsaved}
	if unwritten != nil {
		return stopped, butDone(unwritten, "it was ended, but could not be marked as stopped")
	}
	return stopped, dropped
}

// tellMove adds to an error the conversation that an agent has moved to by itself, if it could not be recorded.
func (s *Supervisor) tellMove(r agent.Record, unwritten error) error {
	from := r.SessionID
	if s.follow(&r); r.SessionID == from {
		return unwritten
	}
	return fail.Errorf(fail.KindOf(unwritten), "%w", unwritten).
		Hint("note where it was last, its record has the conversation before: %s", r.SessionID).
		Hint("to take that one up, with room again: nbs-worker spawn HANDLE --session-id %s", r.SessionID)
}
