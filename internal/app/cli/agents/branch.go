package agents

import (
	"strconv"

	"nbs-worker/internal/team/inspect"
)

// placeOf returns a function for where an agent works, in a list: the branch of its worktree or, without one, its
// folder, relative to the project if it is inside.
func placeOf(project string) func(*inspect.Row) string {
	folder, branches := folderOf(project), map[string]string{}
	return func(row *inspect.Row) string {
		branch := handedBranch(row)
		if branch == "" {
			branch = ownBranch(row)
		}
		if branch == "" {
			cwd := worksIn(row)
			known, isKnown := branches[cwd]
			if !isKnown {
				known = inspect.WorktreeBranch(cwd)
				branches[cwd] = known
			}
			branch = known
		}
		if branch != "" {
			return "branch " + branch
		}
		return folder(row)
	}
}

// ownBranch returns the branch of the worktree that was made for an agent, and how many files are changed there: "nbs/alice
// +3"; "" if the agent has none, or works elsewhere.
func ownBranch(row *inspect.Row) string {
	switch tree := row.Tree; {
	case tree == nil || row.WorksIn != "":
		return ""
	case tree.Gone:
		return tree.Branch + ", its worktree is gone"
	case tree.Changed == nil || *tree.Changed == 0:
		return tree.Branch
	default:
		return tree.Branch + " +" + strconv.Itoa(*tree.Changed)
	}
}
