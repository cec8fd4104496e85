package worktree

import (
	"os"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// A tree is where nothing deletes it, locked, with copies of the ignored files that are named.
func TestTreeThatIsMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rig.Equal(t, w.tree.Path, w.dir+"/project.nbs/alice", "the folder")
	rig.Equal(t, w.tree.Base, w.git("project", "rev-parse", "HEAD"), "the base")
	rig.Check(t, strings.Contains(w.git("project", "worktree", "list", "--porcelain"), "locked nbs-worker: agent alice of "+w.dir+"/project"), "it is not locked")
	rig.Equal(t, w.contents(w.tree.Path)["secret.env"], "KEY=1\n", "the copied file")
	rig.Equal(t, w.git("tree", "status", "--porcelain"), "", "status")
}

// A tree that a killed command has left is taken, and what was done in it stays.
func TestTreeThatWasLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("tree/secret.env", "KEY=2\n")
	w.put("tree/a.txt", "staged\n")
	w.git("tree", "add", "a.txt")
	before := w.contents(w.tree.Path)
	again := w.made(Wanted{})
	rig.Check(t, again.Left && again.Tree == w.tree, "%+v", again)
	for name, text := range before {
		rig.Equal(t, w.contents(w.tree.Path)[name], text, "%s", name)
	}
	rig.Equal(t, w.git("tree", "status", "--porcelain"), "M  a.txt", "what is staged")
}

// What was not written yet when git was killed is written by the next command.
func TestTreeThatWasHalfMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rig.Must(t, os.Remove(w.at("project/.git/worktrees/alice/index")))
	rig.Must(t, os.Remove(w.at("tree/a.txt")))
	w.made(Wanted{})
	rig.Equal(t, w.contents(w.tree.Path)["a.txt"], "a\n", "the missing file")
	rig.Equal(t, w.git("tree", "status", "--porcelain"), "", "status")
}

// No tree is made where something is, nor in a working tree.
func TestTreesThatAreNotMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for what, c := range map[string]struct {
		wanted Wanted
		words  string
	}{
		"in the repository": {Wanted{Folder: w.dir + "/project/.claude/worktrees"}, "would be in the working tree"},
		"a branch in use":   {Wanted{Folder: w.dir + "/other"}, "is checked out in"},
		"an option":         {Wanted{Branch: "--force"}, "is not the name of a branch"},
		"an unknown base":   {Wanted{Branch: "x", Base: "--all"}, "is no commit, branch or tag"},
		"the checked out":   {Wanted{Branch: "HEAD"}, "is not the name of a branch"},
		"a full name":       {Wanted{Branch: "refs/heads/x"}, "is not the name of a branch"},
		"another branch":    {Wanted{Branch: "x"}, "is that of agent alice of " + w.dir + "/project"},
	} {
		_, err := w.plan(c.wanted)
		rig.Check(t, err != nil && strings.Contains(err.Error(), c.words), "%s: %v", what, err)
	}
	w.put("project/part/x", "x")
	_, err := NewPlan(t.Context(), Wanted{Handle: "alice", Project: w.dir + "/project/part"})
	rig.Check(t, err != nil && strings.Contains(err.Error(), "is that of agent alice of "+w.dir+"/project"), "%v", err)
	rig.Check(t, !strings.Contains(strings.Join(fail.HintsOf(err), "\n"), "--cwd"), "it leads into the tree of another agent: %v", fail.HintsOf(err))

	w.put("elsewhere/alice/mine.txt", "mine")
	_, err = w.plan(Wanted{Folder: w.dir + "/elsewhere", Branch: "x"})
	rig.Check(t, err != nil && strings.Contains(err.Error(), "is there already"), "%v", err)
}

// A tree that was deleted by hand, and has no agent, is not one to work in. git worktree prune frees its place and its branch.
func TestPlaceOfADeletedTree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rig.Must(t, w.tree.Unlock(t.Context())) // as dismiss does
	rig.Must(t, os.RemoveAll(w.tree.Path))
	for _, folder := range []string{"", w.dir + "/other"} {
		_, err := w.plan(Wanted{Folder: folder})
		hints := strings.Join(fail.HintsOf(err), "\n")
		rig.Check(t, err != nil && strings.Contains(err.Error(), "that folder is not there"), "%v", err)
		rig.Check(t, strings.Contains(hints, "if it was deleted: git worktree ") && !strings.Contains(hints, "--cwd"), "%s", hints)
	}
	w.git("project", "worktree", "prune")
	w.made(Wanted{})
}
