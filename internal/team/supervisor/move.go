package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/moves"
	"nbs-worker/internal/team/teardown"
	"nbs-worker/internal/team/worktree"
)

// What a move to another machine does with the record and the processes of an agent. Package move of the wing host says
// what goes along, and in which order both machines act.

// errLeaving is the error for an agent that is on its way to another machine.
func errLeaving(r *agent.Record) error {
	return fail.Errorf(fail.Conflict, "the agent is being moved to %s, and that was not completed", r.Move.To).
		Hint("to complete it: %s", r.Move.Command).
		Hint("to keep the agent here: nbs-worker move %s --cancel", r.Handle)
}

// CheckMove checks everything that can be checked before an agent leaves, and changes nothing.
func (s *Supervisor) CheckMove(ctx context.Context, handle agent.Handle, force bool) (agent.Record, error) {
	r, err := s.Project.Store.Load(handle)
	if err == nil {
		err = s.Project.Store.CheckSeal(&r) // it gets a new seal where it arrives
	}
	if err == nil {
		err = s.Caller.CheckPerson("move an agent")
	}
	if err != nil {
		return r, err
	}
	if r.Unfinished() {
		return r, errHalfRenamed(&r)
	}
	sight := s.Project.LookAt(ctx, r)
	r = sight.Record
	status := sight.Status
	if status.Running() && status.State != agent.Idle && !force {
		return r, fail.Errorf(fail.Conflict, "the agent is %s, and a move would end that", status.Word()).
			Hint("wait until it is idle: nbs-worker wait %s", handle).
			Hint("to break off what it does: repeat the command with --force")
	}
	if runsOrRestarts(&sight) && (r.Process == nil || r.Process.Tmux == nil) {
		return r, fail.Errorf(fail.Conflict, "the agent runs in a terminal outside of tmux").
			Hint("to end it first: nbs-worker stop %s", handle)
	}
	if err := teardown.CheckEndable(ctx, s.Project, &r); err != nil {
		return r, err
	}
	if r.OwnWorktree == (agent.OwnWorktree{}) {
		return r, nil
	}
	removal, err := s.removal(&r)
	if err != nil {
		return r, err
	}
	return r, removal.CheckCarry(ctx)
}

// Depart ends an agent, marks its record as leaving, and calls pack while no other verb can change the agent.
func (s *Supervisor) Depart(ctx context.Context, handle agent.Handle, m agent.HostMove, force bool, pack func(context.Context, *agent.Record) error) error {
	unlock, err := s.awaitVerb(ctx, handle, "move")
	if err != nil {
		return err
	}
	defer unlock()
	before, err := s.CheckMove(ctx, handle, force)
	if err != nil {
		return err
	}
	if before.IsLeaving() {
		if note, err := s.Project.Store.Moves().Get(before.Move.ID); err != nil || note.HasLeft() {
			return errors.Join(err, errLeaving(&before))
		}
	}
	if err := s.noteArrival(&before); err != nil {
		return err
	}
	runs := runsOrRestarts(new(s.Project.LookAt(ctx, before)))
	ended := context.WithoutCancel(ctx)
	r, err := s.Project.Store.Update(ended, handle, func(r *agent.Record) error {
		if r.IsLeaving() {
			m.Desired, m.Runs = r.Move.Desired, r.Move.Runs || runs
		} else {
			m.Desired, m.Runs = r.LaunchDesired(), runs
		}
		r.Move = &m
		return nil
	})
	if err != nil {
		return err
	}
	err = s.handOver(ctx, r.Handle, pack)
	if err != nil {
		err = fail.Errorf(fail.KindOf(err), "%w; the move is not complete", err).HintsOf(errLeaving(&r))
	}
	return err
}

// handOver ends an agent that leaves, and calls pack.
func (s *Supervisor) handOver(ctx context.Context, handle agent.Handle, pack func(context.Context, *agent.Record) error) error {
	ended := context.WithoutCancel(ctx)
	stopped, err := s.stop(ended, handle, s.mayStop, func(*agent.Record) {})
	if err != nil {
		return err
	}
	r := stopped.Record
	if r.Schema == 0 {
		if r, err = s.Project.Store.Update(ended, handle, s.completeLegacy); err != nil {
			return err
		}
	}
	_ = s.Keeper.Keep(ended, &r) // its launcher may have been killed before it could
	return pack(ctx, &r)
}

// Unmove keeps an agent that was about to leave, and returns the move that it was. Errors: Conflict if it has left.
func (s *Supervisor) Unmove(ctx context.Context, handle agent.Handle) (agent.HostMove, error) {
	unlock, err := s.awaitVerb(ctx, handle, "move")
	if err != nil {
		return agent.HostMove{}, err
	}
	defer unlock()
	r, err := s.Project.Store.Load(handle)
	if err != nil {
		return agent.HostMove{}, err
	}
	if !r.IsLeaving() {
		return agent.HostMove{}, fail.Errorf(fail.Conflict, "no move of it is under way")
	}
	was := *r.Move
	note, err := s.Project.Store.Moves().Get(was.ID)
	if err != nil {
		return was, err
	}
	if note.State != "" && note.State != moves.Given {
		return was, fail.Errorf(fail.Conflict, "it has left for %s, and can only arrive there", was.To).
			Hint("to complete the move: %s", was.Command).
			Hint("if %s is lost for good: nbs-worker move %s --cancel --lost", was.To, handle)
	}
	r, err = s.Project.Store.Update(ctx, handle, func(r *agent.Record) error {
		r.Move = nil
		return nil
	})
	if err != nil {
		return was, err
	}
	return was, s.Project.Note(ctx, "move", &r, "not to "+was.To+": canceled")
}

// Departed is the result of a departure.
type Departed struct {
	TreeLeft string // why its worktree, or a part of it, stays; "": it was removed, or there was none
	Dropped  int    // messages of its outbox that were not in the package; the journal has them
}

// Leave ends an agent's being here, if check holds: the note, with the record in it, is the moment. What follows can be
// repeated. check is not called again once the note was written.
func (s *Supervisor) Leave(ctx context.Context, note moves.Note, check func(context.Context, *agent.Record) error) (Departed, error) {
	unlock, err := s.awaitVerb(ctx, note.Handle, "move")
	if err != nil {
		return Departed{}, err
	}
	defer unlock()
	ctx = context.WithoutCancel(ctx)
	has, err := s.Project.Store.Moves().Get(note.ID)
	if err != nil {
		return Departed{}, err
	}
	isOver := has.HasLeft()
	r, err := s.Project.Store.Load(note.Handle)
	if isOver && (fail.KindOf(err) == fail.NotFound || err == nil && (r.Move == nil || r.Move.ID != note.ID)) {
		return Departed{}, nil
	}
	if err != nil {
		return Departed{}, err
	}
	if !r.IsLeaving() || r.Move.ID != note.ID {
		return Departed{}, fail.Errorf(fail.NotFound, "this move of the agent was canceled, and it stays")
	}
	if !isOver {
		if status := s.Project.LookAt(ctx, r).Status; !status.Down() {
			return Departed{}, fail.Errorf(fail.Conflict, "the agent is %s", status.Word())
		}
		if note.Tree != (moves.Tree{}) {
			removal, err := s.removal(&r)
			if err == nil {
				err = removal.CheckUnchanged(ctx, worktree.Cargo(note.Tree))
			}
			if err != nil {
				return Departed{}, err
			}
		}
		if has, err = s.depart(ctx, &r, note, check); err != nil {
			return Departed{}, err
		}
	}
	return s.clearAway(ctx, &r, has)
}

// depart writes the note of an agent that leaves. No message can come while it checks what is in the package: the sender
// waits, and is refused because of the record.
func (s *Supervisor) depart(ctx context.Context, r *agent.Record, note moves.Note, check func(context.Context, *agent.Record) error) (moves.Note, error) {
	unlock, err := s.Project.Store.Outbox(r.Handle).Hold(ctx)
	if err != nil {
		return note, err
	}
	defer unlock()
	if err := check(ctx, r); err != nil {
		return note, err
	}
	if note.Record, err = json.Marshal(r); err != nil {
		return note, err
	}
	note.State, note.At = moves.Left, s.Project.Now()
	return note, s.Project.Store.Moves().Put(note)
}

// clearAway removes what an agent that has left has here. Its transcripts stay in the archive.
func (s *Supervisor) clearAway(ctx context.Context, r *agent.Record, note moves.Note) (done Departed, err error) {
	box := s.Project.Store.Outbox(r.Handle)
	entries, err := box.Entries()
	if err != nil {
		return done, err
	}
	for _, e := range entries {
		if !slices.Contains(note.Messages, e.ID) {
			continue
		}
		if err := box.Remove(ctx, e); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return done, err
		}
	}
	if done.Dropped, err = s.dropOutbox(ctx, r); err != nil {
		return done, err
	}
	if err := s.Project.Note(ctx, "move", r, "to "+note.Place+", "+note.ID); err != nil {
		return done, err
	}
	if r.OwnWorktree != (agent.OwnWorktree{}) {
		done.TreeLeft = s.removeCarried(ctx, r, worktree.Cargo(note.Tree))
	}
	if err := s.Project.Store.Remove(ctx, r.Handle); err != nil {
		return done, err
	}
	s.forgetOld(ctx, r.Handle)
	_ = s.Project.Store.Costs().Close(ctx, r.Handle, s.Project.Now())
	return done, nil
}

// removeCarried removes the worktree of an agent that has left, and returns why it stays if it does.
func (s *Supervisor) removeCarried(ctx context.Context, r *agent.Record, cargo worktree.Cargo) string {
	removal, err := s.removal(r)
	if err != nil {
		return err.Error()
	}
	removal.Carried = cargo
	if _, err = removal.Remove(ctx); err == nil {
		return ""
	}
	_ = removal.Unlock(ctx) // its lock holds only what git would forget
	return err.Error()
}

// Carry keeps the worktree of an agent that leaves, for another machine.
func (s *Supervisor) Carry(ctx context.Context, r *agent.Record) (worktree.Cargo, error) {
	removal, err := s.removal(r)
	if err != nil {
		return worktree.Cargo{}, err
	}
	return removal.Carry(ctx)
}
