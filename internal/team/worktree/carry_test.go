package worktree

import (
	"bytes"
	"maps"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// carried is the world of a tree that was packed, with files in no commit.
func carried(t *testing.T) (*world, Cargo) {
	t.Helper()
	w := newWorld(t)
	w.commit("b.txt", "committed\n")
	w.put("tree/c.txt", "in no commit\n")
	w.put("tree/build/d.bin", "ignored\n")
	cargo, err := w.removal().Carry(t.Context())
	rig.Must(t, err)
	return w, cargo
}

// What changes in a tree after it was packed keeps it from being left behind.
func TestChangesAfterATreeWasPacked(t *testing.T) {
	t.Parallel()
	w, cargo := carried(t)
	empty := func() { w.git("tree", "commit", "-q", "--allow-empty", "-m", "more") }
	for _, c := range []struct {
		what   string
		change func()
	}{
		{"a new file", func() { w.put("tree/new.txt", "x") }},
		{"another content", func() { w.put("tree/c.txt", "in no Commit\n") }},
		{"an ignored file", func() { w.put("tree/build/d.bin", "Ignored\n") }},
		{"no file", func() { rig.Must(w, os.Remove(w.at("tree/crlf.txt"))) }},
		{"a right", func() { rig.Must(w, os.Chmod(w.at("tree/a.txt"), 0o700)) }},
		{"a link", func() { rig.Must(w, os.Symlink("a.txt", w.at("tree/link"))) }},
		{"a commit", empty},
		{"a commit undone", func() { empty(); w.git("tree", "reset", "-q", "--soft", "HEAD~") }},
		{"another checkout", func() { w.git("tree", "checkout", "-q", "--detach"); w.git("tree", "reset", "-q", "--soft", "HEAD~") }},
	} {
		rig.Must(t, w.removal().CheckUnchanged(t.Context(), cargo))
		c.change()
		err := w.removal().CheckUnchanged(t.Context(), cargo)
		rig.Check(t, err != nil && fail.KindOf(err) == fail.Conflict, "%s: %v", c.what, err)
		r := w.removal()
		r.Carried = cargo
		_, err = r.Remove(t.Context())
		_, gone := os.Lstat(w.tree.Path)
		rig.Check(t, err != nil && gone == nil, "%s: the tree was removed: %v", c.what, err)
		cargo, err = w.removal().Carry(t.Context())
		rig.Must(t, err)
	}
	r := w.removal()
	r.Carried = cargo
	_, err := r.Remove(t.Context())
	_, gone := os.Lstat(w.tree.Path)
	rig.Check(t, err == nil && gone != nil, "the tree stays: %v", err)
}

// other is another repository with a beginning of the same history, and a cargo packed for it.
func (w *world) other(cargo Cargo) (project string, pack []byte) {
	w.Helper()
	w.git(".", "clone", "-q", "project", "there")
	w.git("there", "checkout", "-q", "main")
	have, err := Tips(w.Context(), w.at("there"))
	rig.Must(w, err)
	var text bytes.Buffer
	rig.Must(w, cargo.Pack(w.Context(), w.tree.Common, have, &text))
	return w.at("there"), text.Bytes()
}

// A tree lands in another repository with its branch, its commits and all its files, also if it lands twice.
func TestATreeLands(t *testing.T) {
	t.Parallel()
	w, cargo := carried(t)
	project, pack := w.other(cargo)
	want := w.contents(w.tree.Path)
	head := w.git("tree", "rev-parse", "HEAD")
	for range 2 {
		tree, branch, err := cargo.Land(t.Context(), Wish{Handle: "alice", Project: project, Now: time.Now()}, w.tree.Base, bytes.NewReader(pack))
		rig.Must(t, err)
		rig.Equal(t, branch, "nbs/alice", "its branch")
		w.tree = tree
		rig.Check(t, maps.Equal(w.contents(tree.Path), want), "its files: %v", w.contents(tree.Path))
		rig.Equal(t, w.git("tree", "rev-parse", "HEAD"), head, "its commit")
		look, err := tree.Look(t.Context())
		rig.Check(t, err == nil && look.State == Fine, "%+v, %v", look, err)
	}
}

// What is no cargo of the agent, or is damaged, brings nothing.
func TestATreeThatCannotLand(t *testing.T) {
	t.Parallel()
	w, cargo := carried(t)
	project, pack := w.other(cargo)
	for what, land := range map[string]func() (Cargo, []byte){
		"a part":        func() (Cargo, []byte) { return cargo, pack[:len(pack)/2] },
		"another byte":  func() (Cargo, []byte) { p := bytes.Clone(pack); p[len(p)/2] ^= 1; return cargo, p },
		"another agent": func() (Cargo, []byte) { return Cargo{KeptRefs + "bob/" + path.Base(cargo.Ref), cargo.Commit}, pack },
		"a branch":      func() (Cargo, []byte) { return Cargo{"refs/heads/main", cargo.Commit}, pack },
		"no commit":     func() (Cargo, []byte) { return Cargo{cargo.Ref, "--all"}, pack },
	} {
		c, text := land()
		_, _, err := c.Land(t.Context(), Wish{Handle: "alice", Project: project, Now: time.Now()}, w.tree.Base, bytes.NewReader(text))
		rig.Check(t, err != nil && w.git("there", "for-each-ref", KeptRefs) == "", "%s: %v", what, err)
		rig.Check(t, strings.Count(w.git("there", "worktree", "list"), "\n") == 0, "%s: a tree was made", what)
	}
}
