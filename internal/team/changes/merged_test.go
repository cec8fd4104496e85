package changes

import (
	"testing"

	"nbs-worker/internal/sim/rig"
)

// What of an agent's work is merged is counted: its own commits alone, in whichever way they came into main.
func TestHowMuchIsMerged(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	tree, alice := r.worktree()
	is := func(when, files string, merged int, behind, inMain bool) {
		t.Helper()
		c := tree.changes(alice, Wanted{})
		rig.Check(t, told(c) == files && c.Merged == merged && c.IsBehindMain() == behind && c.InMain == inMain,
			"%s: %q, %d merged, behind %v, in main %v", when, told(c), c.Merged, c.IsBehindMain(), c.InMain)
	}
	is("a new tree", "", 0, false, false)
	r.write("other.go", "of another\n")
	r.commit("of another")
	tree.git("merge", "-q", "main")
	is("with another's commit", "", 0, true, false)
	tree.write("price.go", "1\n")
	tree.commit("one")
	tree.git("commit", "-q", "--amend", "-m", "one, amended")
	tree.write("price.go", "2\n")
	tree.commit("two")
	is("before a merge", "M +1 -3 price.go", 0, false, false)
	r.git("merge", "-q", "nbs/alice")
	is("merged", "", 2, true, false)
	tree.write("price.go", "3\n")
	is("with a change after it", "M +1 -1 price.go *", 2, true, false)
	tree.commit("three")
	is("with a commit after it", "M +1 -1 price.go", 2, false, false)
	r.git("merge", "-q", "--squash", "nbs/alice")
	r.commit("three, squashed")
	is("squashed", "M +1 -1 price.go", 2, false, true)
	tree.write("new.go", "new\n")
	is("with a file after it", "A +1 -0 new.go *; M +1 -1 price.go", 2, false, false)
}
