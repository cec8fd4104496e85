package agents

import (
	"strconv"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/team/inspect"
)

// placeOf returns a function for where an agent works, in a list: the branch of its worktree, or the folder if it has no
// worktree or the usual branch of its handle.
func placeOf(project string) func(*inspect.Row) string {
	branches := map[string]string{}
	return func(row *inspect.Row) string {
		if branch := handedBranch(row); branch != "" {
			return "branch " + branch
		}
		if tree := ownTree(row); tree != nil {
			return branchOr(row.Handle, tree.Branch, ui.Relative(project, tree.Path)) + stateOf(tree)
		}
		cwd := worksIn(row)
		branch, isKnown := branches[cwd]
		if !isKnown {
			branch = inspect.WorktreeBranch(cwd)
			branches[cwd] = branch
		}
		return branchOr(row.Handle, branch, ui.Relative(project, cwd))
	}
}

// ownTree returns the worktree that was made for an agent; nil if the agent has none, or works elsewhere.
func ownTree(row *inspect.Row) *inspect.Tree {
	if row.WorksIn != "" {
		return nil
	}
	return row.Tree
}

// ownBranch returns the branch of the worktree that was made for an agent, and its state: "nbs/alice +3"; "" without one.
func ownBranch(row *inspect.Row) string {
	if tree := ownTree(row); tree != nil {
		return tree.Branch + stateOf(tree)
	}
	return ""
}

// branchOr returns a branch in words or, without one or for the usual one of an agent, a folder.
func branchOr(handle agent.Handle, branch, folder string) string {
	if branch == "" || branch == agent.OwnBranches+string(handle) {
		return folder
	}
	return "branch " + branch
}

// stateOf returns whether a worktree is gone, or how many files are changed there, as an addition to its place.
func stateOf(tree *inspect.Tree) string {
	switch {
	case tree.Gone:
		return ", its worktree is gone"
	case tree.Changed == nil || *tree.Changed == 0:
		return ""
	}
	return " +" + strconv.Itoa(*tree.Changed)
}

// placeCell returns the cell of a place. The end of a folder tells more than its beginning.
func placeCell(place string) ui.Cell {
	cell := ui.Text(place)
	cell.CutStart = true
	return cell
}
