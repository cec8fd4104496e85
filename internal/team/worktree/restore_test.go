package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// forge writes a kept commit of alice, as any process can, with the files of the project or those of a tree of git's.
func (w *world) forge(path, project string, at time.Time, tree string) {
	w.Helper()
	head := w.git("project", "rev-parse", "HEAD")
	if tree == "" {
		tree = head + "^{tree}"
	}
	k := Kept{Handle: "alice", Path: path, Branch: "nbs/alice", Head: head, Project: project}
	commit := w.git("project", "commit-tree", w.git("project", "rev-parse", tree), "-p", head, "-m", k.message())
	w.git("project", "update-ref", KeptRefs+"alice/"+at.UTC().Format(stamp), commit)
}

// What another process has written below the kept refs leads a restore neither out of the folder of trees, nor to the
// tree of another project, nor past the last removal.
func TestForgedKeptCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.contents(w.tree.Path)
	_, err := w.remove()
	rig.Must(t, err)
	w.forge(w.tree.Path, w.at("project"), time.Now().Add(time.Hour), "")
	w.forge(w.at("other.nbs/alice"), w.at("other"), time.Now(), "")
	w.restored(before)

	for what, path := range map[string]string{
		"another folder": w.at("home/.ssh"), "the folder above": w.at("alice"), "a hidden one": filepath.Dir(w.tree.Path) + "/.ssh", "below": w.tree.Path + "/x/alice",
	} {
		at := time.Now()
		w.forge(path, w.at("project"), at, "")
		_, err := Restore(t.Context(), w.wish())
		rig.Check(t, fail.KindOf(err) == fail.Conflict && strings.Contains(err.Error(), "where worktrees are made"), "%s: %v", what, err)
		_, missing := os.Lstat(path)
		rig.Check(t, os.IsNotExist(missing), "%s was made", path)
		w.git("project", "update-ref", "-d", KeptRefs+"alice/"+at.UTC().Format(stamp))
	}
}

// No file comes back with more readers than it had, tracked or not.
func TestRestoredFilesArePrivate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("tree/build/run.sh", "x")
	rig.Must(t, os.Chmod(w.at("tree/build/run.sh"), 0o755))
	files := w.contents(w.tree.Path)
	_, err := w.remove()
	rig.Must(t, err)
	w.restored(files)
	for name := range files {
		info, err := os.Lstat(w.at("tree/" + name))
		rig.Must(t, err)
		rig.Check(t, info.Mode()&0o077 == 0, "%s has the mode %s", name, info.Mode())
		rig.Equal(t, info.Mode()&0o100 != 0, name == "build/run.sh", "whether %s can be run", name)
	}
}

// A person names the place: then it can be any.
func TestRestoreToNamedFolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	files := w.contents(w.tree.Path)
	_, err := w.remove()
	rig.Must(t, err)
	wish := w.wish()
	wish.To, wish.Folder = w.at("to/alice"), w.at("elsewhere")
	_, err = Restore(t.Context(), wish)
	rig.Must(t, err)
	rig.Same(t, "files", files, w.contents(w.at("to/alice")))

	// What was restored is known as long as it is there.
	is := func() string {
		kept, err := KeptOf(t.Context(), w.at("project"))
		rig.Check(t, err == nil && len(kept) == 1, "%v, %v", kept, err)
		return kept[0].Restored
	}
	rig.Equal(t, is(), w.at("to/alice"), "where it was restored to")
	w.git("project", "worktree", "remove", "-f", w.at("to/alice"))
	rig.Equal(t, is(), "", "where it was restored to, after its removal")
}

// No restore writes what makes a folder a repository of its own, or follows a link that is in its place.
func TestRestoreOfForgedFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.remove()
	rig.Must(t, err)
	blob := w.git("project", "rev-parse", "HEAD:a.txt")
	mktree := func(line string) string {
		w.put("line", line+"\n")
		out, err := exec.Command("sh", "-c", `git -C "$1" mktree < "$2"`, "sh", w.at("project"), w.at("line")).Output()
		rig.Must(t, err)
		return strings.TrimSpace(string(out))
	}
	inner := mktree("100644 blob " + blob + "\tconfig")
	w.forge(w.tree.Path, w.at("project"), time.Now(), mktree("040000 tree "+mktree("040000 tree "+inner+"\t.git")+"\tsub"))
	_, err = Restore(t.Context(), w.wish())
	rig.Check(t, err != nil && strings.Contains(err.Error(), `has "sub/.git/config", which no removal has written`), "%v", err)

	w.git("project", "worktree", "remove", "-f", "-f", w.tree.Path)
	rig.Must(t, os.MkdirAll(w.at("target"), 0o700))
	rig.Must(t, os.MkdirAll(filepath.Dir(w.tree.Path), 0o700))
	rig.Must(t, os.Symlink(w.at("target"), w.tree.Path))
	_, err = Restore(t.Context(), w.wish())
	rig.Check(t, err != nil && strings.Contains(err.Error(), "is there already"), "%v", err)
}
