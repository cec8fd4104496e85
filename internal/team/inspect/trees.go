package inspect

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"
	"time"

	"nbs-worker/internal/platform/folder"
	"nbs-worker/internal/platform/parallel"
	"nbs-worker/internal/platform/smallfile"
	"nbs-worker/internal/store/treelooks"
	"nbs-worker/internal/team/worktree"
)

// Tree is the worktree that was made for an agent, as a list shows it.
type Tree struct {
	Path    string
	Branch  string // what is checked out there, else the recorded one
	Gone    bool   // it is not in its place
	Changed *int   // files that differ from the last commit; nil: unknown
}

const (
	gitPatience = 300 * time.Millisecond // for all trees of a list
	looksLast   = 10 * time.Second       // git is asked of a tree this often at most
)

// LookAtTrees adds the worktrees that were made for agents. git is asked seldom and has a short time. Where it does not
// answer in time, the number of changed files is unknown.
func (i *Inspector) LookAtTrees(ctx context.Context, rows []Row) {
	i.lookAtTrees(ctx, rows, gitPatience)
}

func (i *Inspector) lookAtTrees(ctx context.Context, rows []Row, patience time.Duration) {
	var ask []*Row
	for n := range rows {
		own := rows[n].Record.OwnWorktree
		if own.Path == "" || rows[n].NotAllowed != nil {
			continue
		}
		rows[n].Tree = &Tree{Path: own.Path, Branch: cmp.Or(WorktreeBranch(own.Path), own.Branch), Gone: !folder.Exists(own.Path)}
		if !rows[n].Tree.Gone {
			ask = append(ask, &rows[n])
		}
	}
	if len(ask) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	now, looks := i.Project.Now(), i.Project.Store.TreeLooks()
	before, told := looks.All(), make([]*treelooks.Look, len(ask))
	parallel.Each(len(ask), func(n int) {
		path := ask[n].Tree.Path
		if look, is := before[path]; is && now.Sub(look.At).Abs() < looksLast {
			told[n] = &look
			return
		}
		if changed, err := worktree.Changed(ctx, path); err == nil {
			told[n] = &treelooks.Look{Changed: changed, At: now}
		}
	})
	after, isNew := map[string]treelooks.Look{}, false
	for n, look := range told {
		if look != nil {
			ask[n].Tree.Changed, after[ask[n].Tree.Path] = &look.Changed, *look
			isNew = isNew || look.At.Equal(now)
		}
	}
	if isNew {
		_ = looks.Put(after) // the next list asks again
	}
}

// WorktreeBranch returns the branch of a linked git worktree; "" for another folder, or without a branch. It runs no git.
func WorktreeBranch(folder string) string {
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
