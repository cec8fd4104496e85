package supervisor

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/folder"
	"nbs-worker/internal/store/moves"
	"nbs-worker/internal/team/worktree"
)

// Resettled returns the record of an agent of another machine as it will be here: in this project, in the same place of
// it, with the configuration of Claude that the caller has here. Errors: Conflict if it works outside of the project, in
// a folder that is not here.
func (s *Supervisor) Resettled(r agent.Record) (agent.Record, error) {
	root, cwd := r.ProjectRoot, r.LaunchCwd()
	r.ProjectRoot = s.Project.Store.Project()
	if own := r.OwnWorktree.Path; own != "" {
		root = own // Arrive completes it
	}
	within, err := filepath.Rel(root, cwd)
	outside := err != nil || within == ".." || strings.HasPrefix(within, "../")
	switch {
	case outside && !folder.Exists(cwd):
		return r, fail.Errorf(fail.Conflict, "it works outside of its project, in %s, and that folder is not here", human.Quote(cwd))
	case outside:
		r.Cwd = cwd
	case r.OwnWorktree.Path != "":
		r.Cwd = within
	default:
		r.Cwd = filepath.Join(r.ProjectRoot, within)
	}
	if r.ConfigDir, err = s.Project.CallersConfigDir(); err != nil {
		return r, err
	}
	r.Process, r.PID, r.Rename, r.Restarts, r.Seal, r.SlurmJob = nil, 0, nil, agent.Restarts{}, nil, ""
	r.TmuxSession = s.starter().SessionName(&r)
	return r, nil
}

// CheckArrival checks everything that can be checked before an agent of another machine comes here, and changes nothing. starts:
// if it ran there, it is to be started here.
func (s *Supervisor) CheckArrival(ctx context.Context, r agent.Record, starts bool) error {
	id, branch := r.SessionID, r.OwnWorktree.Branch
	r, err := s.Resettled(r)
	if err != nil {
		return err
	}
	if err := s.Project.Store.CheckFree(r.Handle); fail.KindOf(err) == fail.Conflict {
		return fail.Errorf(fail.Conflict, "%s", err).
			Hint("to see the agent that has it: nbs-worker session %s", r.Handle).
			Hint("to give that one another name: nbs-worker rename %s NAME", r.Handle)
	} else if err != nil {
		return err
	}
	if err := s.Project.CheckUnrecorded(&agent.Record{Spec: agent.Spec{SessionID: id}}); err != nil {
		return err
	}
	if branch != "" {
		in, err := s.treesFolder()
		if err != nil {
			return err
		}
		plan, err := worktree.NewPlan(ctx, worktree.Wanted{Handle: r.Handle, Project: r.ProjectRoot, Branch: branch, Folder: in})
		if err != nil {
			return err
		}
		if plan.Left {
			return fail.Errorf(fail.Conflict, "a worktree of an earlier %s is at %s", r.Handle, human.Quote(plan.Path)).
				Hint("look at it; to remove it: git worktree remove %s", human.ShellWord(plan.Path))
		}
		r.Cwd = ""
	}
	spec := r.Spec // a new agent like it could be started here
	spec.SessionID, spec.PreviousSessions, spec.ForkOf, spec.OwnWorktree = "", nil, "", agent.OwnWorktree{}
	here := *s
	ran := r.LaunchDesired() == agent.DesiredRunning
	if r.IsLeaving() {
		ran = r.Move.Runs
	}
	if !starts || !ran {
		here.Room.Running = 0
	}
	_, err = here.PlanSpawn(ctx, Spawn{Spec: spec})
	return err
}

// Arrive writes the record of an agent that has come from another machine, after bring has brought what belongs to it.
// bring may complete the record. An agent that an earlier call has written is returned as it is.
func (s *Supervisor) Arrive(ctx context.Context, r agent.Record, from string, bring func(context.Context, *agent.Record) error) (agent.Record, error) {
	unlock, err := s.awaitVerb(ctx, r.Handle, "move")
	if err != nil {
		return agent.Record{}, err
	}
	defer unlock()
	there, err := s.Project.Store.Load(r.Handle)
	if err == nil && there.Move != nil && there.Move.ID == r.Move.ID {
		return there, nil
	}
	if err := s.Project.Store.CheckFree(r.Handle); err != nil {
		return agent.Record{}, err
	}
	if err := s.Project.CheckUnrecorded(&r); err != nil {
		return agent.Record{}, err
	}
	ctx = context.WithoutCancel(ctx)
	if err := bring(ctx, &r); err != nil {
		return agent.Record{}, err
	}
	if err := s.Project.Store.Insert(ctx, r); err != nil {
		return agent.Record{}, err
	}
	return r, s.Project.Note(ctx, "move", &r, "from "+from+", "+r.Move.ID)
}

// LandTree brings the worktree of an agent from another machine, and completes the record.
func (s *Supervisor) LandTree(ctx context.Context, r *agent.Record, cargo worktree.Cargo, pack io.Reader) (branch string, err error) {
	in, err := s.treesFolder()
	if err != nil {
		return "", err
	}
	wish := worktree.Wish{Handle: r.Handle, Project: s.Project.Store.Project(), Folder: in, Now: s.Project.Now()}
	tree, branch, err := cargo.Land(ctx, wish, r.OwnWorktree.Base, pack)
	if err != nil {
		return "", err
	}
	r.OwnWorktree = tree.OwnWorktree
	if !filepath.IsAbs(r.Cwd) {
		r.Cwd = filepath.Join(tree.Path, r.Cwd)
	}
	if !folder.Exists(r.Cwd) {
		r.Cwd = tree.Path
	}
	return branch, nil
}

// noteArrival notes that an agent which is about to go has arrived here by a move, if a killed call has not noted it.
// Without the note, the same move would bring the agent here again.
func (s *Supervisor) noteArrival(r *agent.Record) error {
	if r.Move == nil || r.IsLeaving() {
		return nil
	}
	has, err := s.Project.Store.Moves().Get(r.Move.ID)
	if err != nil || has.State != "" {
		return err
	}
	return s.Project.Store.Moves().Put(moves.Note{
		ID: r.Move.ID, Handle: r.Handle, SessionID: r.SessionID, State: moves.Arrived,
		Command: "nbs-worker session " + string(r.Handle), At: s.Project.Now(),
	})
}

// Arrived starts an agent that has come from another machine, if it ran there. It forgets that with the start, so that a
// later call starts it no more. Errors: NotFound without a record if it is no longer here, also if another agent has its
// name.
func (s *Supervisor) Arrived(ctx context.Context, note moves.Note, resume *Resume) (*Started, agent.Record, error) {
	handle, id := note.Handle, note.ID
	r, err := s.Project.Store.Load(handle)
	if err != nil {
		return nil, r, err
	}
	came := r.Move != nil && r.Move.ID == id
	if !came && !slices.Contains(r.Conversations(), note.SessionID) {
		return nil, agent.Record{}, fail.Errorf(fail.NotFound, "it was dismissed, and another agent has its name")
	}
	if !came || r.IsLeaving() {
		return nil, r, nil
	}
	var started *Started
	if r.Move.Runs && resume != nil && !s.Project.LookAt(ctx, r).Status.Running() { // a killed call may have started it
		again, err := s.Resume(ctx, handle, *resume)
		started = &again
		if err != nil {
			return started, r, fail.Errorf(fail.KindOf(err), "it has arrived, but was not started: %w", err).Hint("nbs-worker resume %s", handle)
		}
	}
	r, err = s.Project.Store.Update(context.WithoutCancel(ctx), handle, func(r *agent.Record) error {
		if r.Move != nil && r.Move.ID == id && !r.IsLeaving() {
			r.Move = &agent.HostMove{ID: id}
		}
		return nil
	})
	return started, r, err
}
