package worktree

import (
	"os"
	"testing"

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
	for what, change := range map[string]func(*world){
		"":                func(*world) {},
		"a new file":      func(w *world) { w.put("tree/new.txt", "x") },
		"another content": func(w *world) { w.put("tree/c.txt", "in no Commit\n") },
		"an ignored file": func(w *world) { w.put("tree/build/d.bin", "Ignored\n") },
		"no file":         func(w *world) { rig.Must(w, os.Remove(w.at("tree/a.txt"))) },
		"a right":         func(w *world) { rig.Must(w, os.Chmod(w.at("tree/a.txt"), 0o755)) }, //nolint:gosec // a program
		"a link":          func(w *world) { rig.Must(w, os.Symlink("a.txt", w.at("tree/link"))) },
		"a commit":        func(w *world) { w.git("tree", "commit", "-q", "--allow-empty", "-m", "more") },
		"a commit undone": func(w *world) {
			w.git("tree", "commit", "-q", "--allow-empty", "-m", "more")
			w.git("tree", "reset", "-q", "HEAD~")
		},
		"another checkout": func(w *world) {
			w.git("tree", "checkout", "-q", "--detach")
			w.git("tree", "reset", "-q", "--soft", "HEAD~")
		},
	} {
		w, cargo := carried(t)
		change(w)
		as := func(err error) bool {
			return (err == nil) == (what == "") && (err == nil || fail.KindOf(err) == fail.Conflict)
		}
		err := w.removal().CheckUnchanged(t.Context(), cargo)
		rig.Check(t, as(err), "%q: %v", what, err)

		r := w.removal()
		r.Carried = cargo
		_, err = r.Remove(t.Context())
		_, gone := os.Lstat(w.tree.Path)
		rig.Check(t, as(err) && (gone != nil) == (err == nil), "%q: removed: %v, %v", what, err, gone)
	}
}
