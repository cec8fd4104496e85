package doctor

import (
	"context"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/worktree"
)

// trees checks the worktrees that were made for agents. --fix only locks them: it neither moves nor makes files.
func (d *examination) trees(ctx context.Context) (all findings) {
	for _, row := range d.known() {
		if r := &row.Record; r.OwnWorktree != (agent.OwnWorktree{}) && d.project.Store.CheckSeal(r) == nil {
			all = append(all, d.tree(ctx, row)...)
		}
	}
	return all
}

func (d *examination) tree(ctx context.Context, row inspect.Row) (all findings) {
	handle := string(row.Handle)
	tree, look, err := d.supervisor.LookAtTree(ctx, &row.Record)
	path := human.Quote(tree.Path)
	const unsafe = "git can forget it, and commands of git and of other programs can remove it with what is in it"
	switch {
	case err != nil:
		return found(Warning, "the worktree of "+handle+" cannot be looked at: "+oneLine(err), "whether it is safe is unknown")
	case look.State == worktree.Moved:
		all.add(Warning, "the worktree of "+handle+" was moved to "+human.Quote(look.What), "the agent is started where its record says: "+path, "to move it back: "+tree.MoveBack(look.What))
	case look.State == worktree.Lost && tree.IsBeingRemoved():
		all.add(Warning, "the removal of the worktree of "+handle+" was killed", "a part of it is deleted; all of it is kept",
			"to complete the removal: nbs-worker dismiss "+handle+" --remove-worktree", "to bring it back: nbs-worker worktree restore "+handle)
	case look.State == worktree.Lost:
		all.add(Warning, "the worktree of "+handle+" is not there: "+path, "the agent cannot be started",
			"if it was moved: mv NEW-PATH "+human.ShellWord(tree.Path), "if it was deleted, to bring back what git has of it: nbs-worker worktree restore "+handle)
	case look.State == worktree.Unknown:
		all.add(Warning, "what is at "+path+" is not the worktree of "+handle+": "+look.What, "git may not have what the agent does there",
			"to see git's worktrees: git -C "+human.ShellWord(tree.Common)+" worktree list")
	case look.State == worktree.Foreign:
		all.add(Note, "the worktree of "+handle+" is locked for another reason: "+human.Quote(look.What), "it is safe; dismiss does not unlock it",
			"to unlock it: git worktree unlock "+human.ShellWord(tree.Path))
	case look.State == worktree.Unlocked:
		f := all.add(Warning, "the worktree of "+handle+" is not locked for it", unsafe, "nbs-worker doctor --fix")
		f.repair = func(ctx context.Context) (string, error) {
			locked, err := d.supervisor.LockTree(ctx, row.Handle)
			if !locked {
				return "", err
			}
			return handle + ": its worktree is locked: " + path, err
		}
	}
	return all
}
