package supervisor

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/folder"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/journal"
	"nbs-worker/internal/store/projects"
	"nbs-worker/internal/team/caller"
	"nbs-worker/internal/team/worktree"
)

// Worktree says which worktree is made for a new agent.
type Worktree struct {
	Branch string // "": nbs/<handle>
	Base   string // "": what is checked out in the project

	Link  []string // names that are links to the same names of the main tree
	Setup []string // a program with its arguments that is run in the new tree; none: nothing is run
}

// worktreesVariable names the folder in which worktrees are made.
const worktreesVariable = "NBS_WORKTREES"

// planTree checks whether the worktree that a spawn asks for can be made, and returns the spawn in it.
func (s *Supervisor) planTree(ctx context.Context, spawn Spawn) (worktree.Plan, Spawn, error) {
	if err := s.Caller.Check(caller.Rule{Right: caller.Person, What: "have a worktree made"}); err != nil {
		return worktree.Plan{}, spawn, err
	}
	if spawn.Cwd != "" || spawn.SessionID != "" {
		return worktree.Plan{}, spawn, fail.Errorf(fail.BadInput, "an agent in a new worktree has a new conversation, and no other folder")
	}
	in, err := s.treesFolder()
	if err != nil {
		return worktree.Plan{}, spawn, err
	}
	project := s.Project.Store.Project()
	plan, err := worktree.NewPlan(ctx, worktree.Wanted{
		Handle: spawn.Handle, Project: project, Branch: spawn.Worktree.Branch, Base: spawn.Worktree.Base, Folder: in,
	})
	if err != nil {
		return plan, spawn, err
	}
	if err := plan.CheckLinks(spawn.Worktree.Link); err != nil {
		return plan, spawn, err
	}
	if setup := spawn.Worktree.Setup; len(setup) > 0 {
		if _, err := plan.SetupProgram(setup); err != nil {
			return plan, spawn, err
		}
	}
	within, err := filepath.Rel(folder.Real(plan.Main), folder.Real(project))
	if err != nil {
		return plan, spawn, err
	}
	spawn.Worktree, spawn.OwnWorktree, spawn.Cwd = nil, plan.OwnWorktree, filepath.Join(plan.Path, within)
	return plan, spawn, nil
}

// PlanTree checks whether a worktree can be made for a new agent, and returns what would be made or taken.
func (s *Supervisor) PlanTree(ctx context.Context, handle agent.Handle, wanted *Worktree) (*worktree.Plan, error) {
	var spawn Spawn
	spawn.Handle, spawn.Worktree = handle, wanted
	plan, _, err := s.planTree(ctx, spawn)
	return &plan, err
}

// treesFolder returns the folder in which the user has worktrees made; "" for the usual one.
func (s *Supervisor) treesFolder() (string, error) {
	in := s.Project.Variable(worktreesVariable)
	if in != "" && !filepath.IsAbs(in) {
		return "", fail.Errorf(fail.BadInput, "%s=%s is not an absolute path", worktreesVariable, human.Quote(in))
	}
	return in, nil
}

// withTree makes the worktree that a spawn asks for, after everything else was checked. If the spawn fails later, the
// next one takes the tree. Only the setup program is interrupted.
func (s *Supervisor) withTree(ctx, interrupt context.Context, spawn Spawn) (Spawn, error) {
	if spawn.Worktree == nil {
		return spawn, nil
	}
	if _, err := s.PlanSpawn(ctx, spawn); err != nil {
		return spawn, err
	}
	plan, in, err := s.planTree(ctx, spawn)
	if err != nil {
		return spawn, err
	}
	if err := plan.Make(ctx); err != nil {
		return spawn, err
	}
	if _, err := plan.Copy(ctx); err != nil {
		return spawn, fail.Errorf(fail.Failed, "copy the files of .worktreeinclude to %s: %w", human.Quote(plan.Path), err)
	}
	if err := plan.Link(spawn.Worktree.Link); err != nil {
		return spawn, err
	}
	if setup := spawn.Worktree.Setup; len(setup) > 0 {
		if spawn.Progress != nil {
			spawn.Progress("waiting for the setup of its worktree: " + shellWords(setup))
		}
		if err := plan.Setup(interrupt, setup, s.Project.Env); err != nil {
			return spawn, err
		}
	}
	if !folder.Exists(in.Cwd) {
		in.Cwd = plan.Path // the project's folder is in no commit
	}
	return in, nil
}

// removal returns the removal of an agent's worktree. Errors: BadInput if none was made for the agent.
func (s *Supervisor) removal(r *agent.Record) (*worktree.Removal, error) {
	if r.OwnWorktree == (agent.OwnWorktree{}) {
		return nil, fail.Errorf(fail.BadInput, "no worktree was made for it, and nbs-worker removes no other folder")
	}
	return &worktree.Removal{
		Tree: s.treeOf(r), Machine: s.Project.Machine, Now: s.Project.Now(),
		Others: func() []worktree.Obstacle { return s.othersIn(r) },
	}, nil
}

func (s *Supervisor) treeOf(r *agent.Record) worktree.Tree {
	return worktree.Tree{OwnWorktree: r.OwnWorktree, Handle: r.Handle, Project: s.Project.Store.Project()}
}

// checkTree checks, before an agent is ended, whether its worktree can be removed.
func (s *Supervisor) checkTree(ctx context.Context, handle agent.Handle) error {
	r, err := s.Project.Store.Load(handle)
	if err != nil {
		return err
	}
	if err := s.Caller.CheckDismiss(&r.Spec); err != nil {
		return err
	}
	if err := s.Project.Store.CheckSeal(&r); err != nil { // a record of another origin could name any folder
		return err
	}
	removal, err := s.removal(&r)
	if err != nil {
		return err
	}
	if err := removal.Check(ctx); err != nil {
		return notDismissed("it is not dismissed", handle, err)
	}
	return nil
}

// notDismissed adds to the refusal of a removal what became of the agent, and how to dismiss it without the removal.
func notDismissed(what string, handle agent.Handle, err error) error {
	alone := "nbs-worker dismiss " + string(handle)
	refusal := fail.Errorf(fail.KindOf(err), "%s: %s", what, err.Error()).HintsOf(err)
	if slices.ContainsFunc(refusal.Hints, func(hint string) bool { return strings.HasSuffix(hint, alone) }) {
		return refusal
	}
	return refusal.Hint("to dismiss it, and leave its worktree: %s", alone)
}

// removeTree removes the worktree of an agent that has ended.
func (s *Supervisor) removeTree(ctx context.Context, r *agent.Record) (*worktree.Removed, error) {
	if err := s.Project.Store.CheckSeal(r); err != nil { // the agent may have written it meanwhile
		return nil, err
	}
	removal, err := s.removal(r)
	if err != nil {
		return nil, err
	}
	done, err := removal.Remove(ctx)
	if err != nil {
		return nil, err
	}
	return &done, s.Project.Note(ctx, "worktree", r, "removed "+r.OwnWorktree.Path+"; all of it is kept in "+done.Kept.Ref)
}

// othersIn returns the other agents of the user's projects that work in the worktree of an agent.
func (s *Supervisor) othersIn(r *agent.Record) (all []worktree.Obstacle) {
	here := s.Project.Store.Project()
	paths := []string{here}
	known, err := projects.Of(s.Project.Store.Home()).Known()
	if err != nil {
		return []worktree.Obstacle{{What: "which agents work in it cannot be found out: " + err.Error()}}
	}
	for _, p := range known {
		if p.Gone == nil && p.Path != here {
			paths = append(paths, p.Path)
		}
	}
	for _, path := range paths {
		records, err := recordsOf(path)
		if err != nil {
			all = append(all, worktree.Obstacle{What: "which agents of " + human.Quote(path) + " work in it cannot be found out: " + err.Error()})
		}
		for _, one := range records {
			if path == here && one.Handle.Same(r.Handle) {
				continue
			}
			switch tree := one.Record.OwnWorktree.Path; {
			case one.Err != nil:
				all = append(all, worktree.Obstacle{What: "where " + string(one.Handle) + " works cannot be found out: " + one.Err.Error()})
			case folder.Contains(r.OwnWorktree.Path, one.Record.LaunchCwd()) || tree != "" && folder.Contains(r.OwnWorktree.Path, tree):
				what := string(one.Handle)
				if path != here {
					what += " of " + human.Quote(path)
				}
				all = append(all, worktree.Obstacle{What: "another agent works in it: " + what})
			}
		}
	}
	return all
}

func recordsOf(project string) ([]store.Loaded, error) {
	opened, err := store.Open(project)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	return opened.Records()
}

// TreeState is the worktree of an agent, and why it cannot be removed now.
type TreeState struct {
	worktree.Tree
	Obstacles []worktree.Obstacle
}

// Word returns whether the tree is in its place.
func (t *TreeState) Word() string {
	if t.IsThere() {
		return "there"
	}
	return "gone"
}

// Trees returns the worktrees that were made for agents of the project, and what is kept of those that were removed.
// Errors: those of the records.
func (s *Supervisor) Trees(ctx context.Context) (all []TreeState, kept []worktree.Kept, err error) {
	records, err := s.Project.Store.Records()
	if err != nil {
		return nil, nil, err
	}
	for i := range records {
		r := &records[i].Record
		if removal, none := s.removal(r); none == nil {
			all = append(all, TreeState{removal.Tree, append(removal.Obstacles(ctx, s.Project.Machine, false), removal.Others()...)})
		}
	}
	kept, err = worktree.KeptOf(ctx, s.Project.Store.Project())
	return all, kept, err
}

// RestoreTree brings back a removed worktree; see [worktree.Restore]. If the agent has a record and its worktree was
// deleted by hand, that is brought back as far as git has it.
func (s *Supervisor) RestoreTree(ctx context.Context, handle agent.Handle, at, to string) (worktree.Restored, error) {
	done, err := s.recoverTree(ctx, handle, at+to == "")
	from := "git"
	if err == nil && done.Path == "" {
		var in string
		if in, err = s.treesFolder(); err != nil {
			return done, err
		}
		done, err = worktree.Restore(ctx, worktree.Wish{
			Handle: handle, Project: s.Project.Store.Project(), At: at, To: to, Folder: in, Now: s.Project.Now(),
		})
		from = done.Kept.Ref
	}
	if err != nil {
		return done, err
	}
	return done, s.Project.Store.Journal().Append(ctx, journal.Event{
		At: s.Project.Seconds(), Event: "worktree", Handle: handle, Detail: "restored " + done.Path + " from " + from,
	})
}

// recoverTree brings back the worktree of an agent that was deleted by hand. The path of the result is "" if it was not.
func (s *Supervisor) recoverTree(ctx context.Context, handle agent.Handle, wanted bool) (done worktree.Restored, err error) {
	r, err := s.Project.Store.Load(handle)
	if err != nil || !wanted || r.OwnWorktree == (agent.OwnWorktree{}) {
		return done, nil //nolint:nilerr // there may be no record
	}
	tree := s.treeOf(&r)
	look, err := tree.Look(ctx)
	if err != nil || look.State != worktree.Lost || tree.IsBeingRemoved() {
		return done, err
	}
	if err := s.Project.Store.CheckSeal(&r); err != nil {
		return done, err
	}
	if done.Files, err = tree.Recover(ctx); err != nil {
		return done, err
	}
	done.Kept.Handle, done.Path, done.Branch = handle, tree.Path, tree.Branch
	return done, nil
}

// LookAtTree looks at the worktree that was made for an agent.
func (s *Supervisor) LookAtTree(ctx context.Context, r *agent.Record) (worktree.Tree, worktree.Look, error) {
	tree := s.treeOf(r)
	look, err := tree.Look(ctx)
	return tree, look, err
}

// LockTree locks the worktree that was made for an agent, unless a verb is working on the agent.
func (s *Supervisor) LockTree(ctx context.Context, handle agent.Handle) (locked bool, err error) {
	unlock, err := s.Project.Store.LockVerb(handle, "doctor", s.Project.Seconds())
	if err != nil {
		if fail.KindOf(err) == fail.Conflict {
			return false, nil
		}
		return false, err
	}
	defer unlock()
	r, err := s.Project.Store.Load(handle)
	if err == nil {
		err = s.Project.Store.CheckSeal(&r)
	}
	if err != nil || r.OwnWorktree == (agent.OwnWorktree{}) {
		return false, err
	}
	tree := s.treeOf(&r)
	if err := tree.Lock(ctx); err != nil {
		return false, err
	}
	return true, s.Project.Note(ctx, "worktree", &r, "locked "+tree.Path)
}
