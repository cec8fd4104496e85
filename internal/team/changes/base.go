package changes

import (
	"context"
	"strings"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/git"
)

// Base is what a tree is compared with.
type Base struct {
	Commit string // in full; of a turn: a tree
	Words  string // what it is: "where nbs/alice left main"
}

// BaseOf returns the commit with which an agent's tree is compared: the named one or, for "", where its work began.
//
//   - In a tree beside the main one: where its branch left the branch of the main tree, at the last merge of the two; not
//     before the commit at which the agent's own branch began.
//   - In the main tree: what was checked out when the agent was first started, by git's log of that.
//
// Errors: NotFound if the named one is no commit.
func (t *Tree) BaseOf(ctx context.Context, named string) (Base, error) {
	if named != "" {
		commit, err := t.commit(ctx, named)
		if git.Code(err) > 0 {
			return Base{}, fail.Errorf(fail.NotFound, "%s is no commit in %s", human.Quote(named), human.Quote(t.Top))
		}
		return Base{commit, named}, err
	}
	if t.Head == "" {
		empty, err := t.run(ctx, nil, "hash-object", "-t", "tree", "--stdin")
		return Base{empty, "an empty tree: there is no commit yet"}, err
	}
	if t.IsMain {
		return t.atFirstStart(ctx)
	}
	return t.whereItLeft(ctx)
}

// commit returns the commit that a word names.
func (t *Tree) commit(ctx context.Context, word string) (string, error) {
	return t.run(ctx, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", word+"^{commit}")
}

// whereItLeft returns the last commit that the branch shares with that of the main tree.
func (t *Tree) whereItLeft(ctx context.Context) (Base, error) {
	began, branch := "", t.Branch
	if branch == "" {
		branch = "its commit"
	}
	if t.Own {
		began = t.record.OwnWorktree.Base
		if !t.isAncestor(ctx, began, t.Head) { // it was rebased, or another branch is checked out
			began = ""
		}
	}
	shared := ""
	if t.Main.Branch != "" {
		shared = t.shared(ctx, t.Head, "refs/heads/"+t.Main.Branch)
	}
	switch {
	case shared != "" && (began == "" || t.isAncestor(ctx, began, shared)):
		return Base{shared, "where " + branch + " left " + t.Main.Branch}, nil
	case began != "":
		return Base{began, "where " + branch + " began"}, nil
	}
	return Base{t.Head, "its last commit: where its branch began is unknown"}, nil
}

// atFirstStart returns what was checked out when the agent was first started.
func (t *Tree) atFirstStart(ctx context.Context) (Base, error) {
	at := t.record.Created
	if at.IsZero() {
		at = t.record.Started
	}
	then, err := t.checkedOutAt(ctx, at)
	if git.Code(err) > 0 || err == nil && then == "" {
		return Base{t.Head, "its last commit: git kept no log of what was checked out before"}, nil
	}
	if err != nil {
		return Base{}, err
	}
	if !t.isAncestor(ctx, then, t.Head) {
		if then = t.shared(ctx, t.Head, then); then == "" {
			return Base{t.Head, "its last commit: what was checked out at its first start has no part in it"}, nil
		}
	}
	return Base{then, "what was checked out at its first start, " + at.UTC().Format(time.RFC3339)}, nil
}

// checkedOutAt returns the commit that was checked out at a time, by git's log; "" or a failure of git's without a log.
func (t *Tree) checkedOutAt(ctx context.Context, at time.Time) (string, error) {
	return t.run(ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD@{"+at.UTC().Format("2006-01-02 15:04:05")+" +0000}")
}

// isAncestor reports whether a commit is part of the history of another.
func (t *Tree) isAncestor(ctx context.Context, commit, of string) bool {
	_, err := t.run(ctx, nil, "merge-base", "--is-ancestor", commit, of)
	return err == nil
}

// shared returns the last commit that two have in their histories; "" if they share no commit.
func (t *Tree) shared(ctx context.Context, a, b string) string {
	commit, err := t.run(ctx, nil, "merge-base", a, b)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(commit, "\n")
	return first
}
