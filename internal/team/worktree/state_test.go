package worktree

import (
	"os"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// What can happen to a tree has a word each.
func TestStatesOfATree(t *testing.T) {
	t.Parallel()
	for state, do := range map[State]func(w *world){
		Fine:     func(*world) {},
		Lost:     func(w *world) { rig.Must(w, os.RemoveAll(w.at("tree"))) },
		Moved:    (*world).moved,
		Unlocked: func(w *world) { w.git("project", "worktree", "unlock", w.tree.Path) },
		Foreign: func(w *world) {
			w.git("project", "worktree", "unlock", w.tree.Path)
			w.git("project", "worktree", "lock", "--reason", "mine", w.tree.Path)
		},
		Unknown: (*world).replaced,
	} {
		w := newWorld(t)
		do(w)
		look, err := w.tree.Look(t.Context())
		rig.Must(t, err)
		rig.Equal(t, look.State, state, "the state; %q", look.What)
		before := w.git("project", "worktree", "list", "--porcelain")
		rig.Must(t, w.tree.Lock(t.Context()))
		after := w.git("project", "worktree", "list", "--porcelain")
		rig.Check(t, state == Unlocked == (before != after), "%s: after it was locked: %s", state, after)
	}
}

// The lock follows the handle.
func TestLockOfARenamedAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tree.Handle = "bob"
	rig.Must(t, w.tree.Lock(t.Context()))
	list := w.git("project", "worktree", "list", "--porcelain")
	rig.Check(t, strings.Contains(list, "locked nbs-worker: agent bob of "), "%s", list)
}

// Of a tree that was deleted by hand, git has what was committed or staged.
func TestTreeThatIsRecovered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit("n.txt", "n\n")
	w.put("tree/staged.txt", "staged\n")
	w.git("tree", "add", "staged.txt")
	w.git("tree", "checkout", "-q", "--detach")
	w.git("tree", "commit", "-q", "--allow-empty", "-m", "detached")
	head := w.git("tree", "rev-parse", "HEAD")
	before := w.contents(w.at("tree"))
	delete(before, "secret.env") // ignored
	rig.Must(t, os.RemoveAll(w.at("tree")))
	files, err := w.tree.Recover(t.Context())
	rig.Must(t, err)
	rig.Equal(t, files, len(before), "files")
	rig.Same(t, "files", before, w.contents(w.at("tree")))
	rig.Equal(t, w.git("tree", "rev-parse", "HEAD"), head, "HEAD")
}
