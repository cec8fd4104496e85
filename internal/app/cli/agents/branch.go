package agents

import (
	"path/filepath"
	"strings"

	"nbs-worker/internal/platform/smallfile"
	"nbs-worker/internal/team/inspect"
)

// placeOf returns a function for where an agent works, in a list: the branch of its worktree or, without one, its
// folder, relative to the project if it is inside.
func placeOf(project string) func(*inspect.Row) string {
	folder, branches := folderOf(project), map[string]string{}
	return func(row *inspect.Row) string {
		branch := handedBranch(row)
		if branch == "" {
			cwd := worksIn(row)
			known, isKnown := branches[cwd]
			if !isKnown {
				known = worktreeBranch(cwd)
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

// worktreeBranch returns the branch of a linked git worktree; "" for another folder, or without a branch. It runs no
// git.
func worktreeBranch(folder string) string {
	const limit = 4 << 10 // bytes of a file
	read := func(path, prefix string) string {
		text, err := smallfile.Read(path, limit)
		value, is := strings.CutPrefix(strings.TrimSpace(string(text)), prefix)
		if err != nil || !is {
			return ""
		}
		return value
	}
	dir := read(filepath.Join(folder, ".git"), "gitdir: ")
	if dir == "" {
		return ""
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(folder, dir)
	}
	return read(filepath.Join(dir, "HEAD"), "ref: refs/heads/")
}
