package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// Folders that their owner may not change, such as those of Go's modules, are deleted too.
func TestFoldersWithoutTheRightToChangeThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("tree/build/mod/f", "1")
	w.put("tree/build/mod/deep/g", "2")
	files := w.contents(w.tree.Path)
	w.run("chmod", "-R", "a-w", w.at("tree/build"))
	rig.AsPlainUser(t, func() { _, err := w.remove(); rig.Check(t, err == nil, "%v", err) })
	rig.Check(t, !w.tree.IsThere(), "it is still there")
	w.restored(files)
}

// A removal that cannot delete a file after others leaves no part of the tree in its place. It can go on later, and a
// restore brings all of it back.
func TestFolderThatCannotBeEmptied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("tree/build/foreign/f", "1")
	files := w.contents(w.tree.Path)
	foreign := func() string {
		found, err := filepath.Glob(w.tree.Path + "*/alice/build/foreign")
		rig.Must(t, err)
		return append(found, w.at("tree/build/foreign"))[0]
	}
	stuck := func() {
		rig.AsPlainUser(t, func() {
			_, err := w.remove()
			rig.Check(t, err != nil && strings.Contains(err.Error(), "permission denied; all that it held is kept in "+KeptRefs) && strings.Contains(err.Error(), "; what is left of it is in "), "%v", err)
			rig.Check(t, strings.Contains(strings.Join(fail.HintsOf(err), "\n"), "to go on: nbs-worker dismiss alice --remove-worktree"), "%v", fail.HintsOf(err))
		})
		rig.Check(t, !w.tree.IsThere(), "a part of the tree is in its place")
	}
	const another = 65534
	rig.Must(t, os.Chmod(foreign(), 0o755))
	rig.Must(t, os.Chown(foreign(), another, another))
	stuck()
	stuck()
	rig.Must(t, os.Rename(w.at("project/.git/HEAD"), w.at("HEAD"))) // git fails now
	_, err := w.remove()
	rig.Check(t, err != nil && !w.tree.IsThere(), "%v", err)
	rig.Must(t, os.Rename(w.at("HEAD"), w.at("project/.git/HEAD")))
	w.restored(files)
	stuck()
	rig.Must(t, os.Chown(foreign(), os.Getuid(), os.Getgid()))
	_, err = w.remove()
	rig.Must(t, err)
	w.restored(files)
}
