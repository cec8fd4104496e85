package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"path"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/moves"
	"nbs-worker/internal/team/worktree"
)

// CheckLost finds the move by which an agent has left, for a person who says that the other machine is lost for good.
// Errors: NotFound if it has not left; Conflict if an agent of that name is here.
func (s *Supervisor) CheckLost(handle agent.Handle) (moves.Note, error) {
	if err := s.Caller.CheckPerson("move an agent"); err != nil {
		return moves.Note{}, err
	}
	r, err := s.Project.Store.Load(handle)
	switch {
	case err == nil && r.Move == nil:
		return moves.Note{}, fail.Errorf(fail.Conflict, "an agent of that name is here, and no move of it is under way")
	case err == nil: // a killed call has left its record, or has made it again
		note, err := s.Project.Store.Moves().Get(r.Move.ID)
		if err == nil && !note.HasLeft() {
			err = fail.Errorf(fail.Conflict, "the agent is here: it has not left").Hint("to keep it here: nbs-worker move %s --cancel", handle)
		}
		return note, err
	case fail.KindOf(err) != fail.NotFound:
		return moves.Note{}, err
	}
	note := s.Project.Store.Moves().Of(handle)
	if note == nil {
		return moves.Note{}, err
	}
	return *note, nil
}

// Reclaim makes an agent that has left an agent of this machine again, as it was when it left. It can be repeated. Errors:
// those of [Supervisor.CheckLost].
func (s *Supervisor) Reclaim(ctx context.Context, handle agent.Handle) (r agent.Record, err error) {
	unlock, err := s.awaitVerb(ctx, handle, "move")
	if err != nil {
		return r, err
	}
	defer unlock()
	note, err := s.CheckLost(handle)
	if err != nil {
		return r, err
	}
	ctx = context.WithoutCancel(ctx)
	if err := json.Unmarshal(note.Record, &r); err != nil {
		return r, fail.Errorf(fail.Failed, "read its record of then: %w", err)
	}
	r.Move = &agent.HostMove{ID: note.ID} // with it, a repeated call knows that the record is this one
	if note.Tree != (moves.Tree{}) {
		if err := s.reclaimTree(ctx, &r, note.Tree); err != nil {
			return r, err
		}
	}
	if _, absent := s.Project.Store.Load(handle); absent != nil {
		err = errors.Join(s.Project.CheckUnrecorded(&r), s.Project.Store.Insert(ctx, r))
	} else {
		r, err = s.Project.Store.Update(ctx, handle, func(is *agent.Record) error {
			is.Move = r.Move
			return nil
		})
	}
	if err != nil {
		return r, err
	}
	note.State = moves.Lost
	drawer := s.Project.Store.Moves()
	return r, errors.Join(s.Project.Note(ctx, "move", &r, "back from "+note.Place+", which is lost"), drawer.CameBack(note.ID, r.Conversations()), drawer.Put(note))
}

// reclaimTree brings back the worktree of an agent that had left, if it was removed.
func (s *Supervisor) reclaimTree(ctx context.Context, r *agent.Record, packed moves.Tree) error {
	tree := s.treeOf(r)
	half, err := tree.IsBeingRestored(ctx)
	if err != nil {
		return err
	}
	if tree.IsThere() && !half {
		return tree.Lock(ctx)
	}
	at := path.Base(packed.Ref)
	if tree.IsBeingRemoved() { // a killed call has perhaps deleted a part of it; what it had kept last is the same
		at = ""
	}
	in, err := s.treesFolder()
	if err != nil {
		return err
	}
	if _, err := worktree.Restore(ctx, worktree.Wish{
		Handle: r.Handle, Project: r.ProjectRoot, At: at, Folder: in, Now: s.Project.Now(),
	}); err != nil {
		return err
	}
	return tree.Lock(ctx)
}
