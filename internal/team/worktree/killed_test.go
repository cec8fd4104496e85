package worktree

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
)

// What makes, removes or restores a tree is killed before each system call by which it, or git for it, changes a file.

// The calls by which files change. git uses the older ones too.
const (
	writes  = "write"
	renames = "rename,renameat,renameat2"
	deletes = "unlink,unlinkat,rmdir"
	makes   = "mkdir,mkdirat,symlink,symlinkat"
)

// play is the program that is killed. Its arguments are what it does, the project, and the tree as JSON.
func play(role []string) int {
	ctx, what, project := context.Background(), role[0], role[1]
	var tree Tree
	err := json.Unmarshal([]byte(role[2]), &tree)
	if err == nil {
		switch what {
		case "make":
			err = makeTree(ctx, project)
		case "remove":
			r := Removal{Tree: tree, Machine: local.New(), Others: func() []Obstacle { return nil }, Now: time.Now()}
			_, err = r.Remove(ctx)
		case "restore":
			_, err = Restore(ctx, Wish{Handle: tree.Handle, Project: project, Now: time.Now()})
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func makeTree(ctx context.Context, project string) error {
	p, err := NewPlan(ctx, Wanted{Handle: "alice", Project: project})
	if err != nil {
		return err
	}
	if err := p.Make(ctx); err != nil {
		return err
	}
	_, err = p.Copy(ctx)
	return err
}

// plays returns a command that does something in the world, which is first set back to what was saved.
func (w *world) plays(what, saved string) *exec.Cmd {
	w.Helper()
	w.run("sh", "-c", `rm -rf "$1" && cp -a "$2" "$1"`, "sh", w.dir, saved)
	tree, err := json.Marshal(w.tree)
	rig.Must(w, err)
	return rig.Command(what, w.at("project"), string(tree))
}

// save copies the world as it is.
func (w *world) save() (saved string) {
	w.Helper()
	saved = filepath.Join(rig.MemoryDir(w), "saved")
	w.run("cp", "-a", w.dir, saved)
	return saved
}

// collect has git forget and delete all that it may. A lock that a killed git has left prevents that.
func (w *world) collect() {
	w.Helper()
	w.git("project", "worktree", "prune", "--expire=now")
	_ = exec.Command("git", "-C", w.at("project"), "gc", "-q", "--prune=now").Run()
}

// fix does what doctor --fix does. It may fail: a killed git leaves locks.
func (w *world) fix() {
	if look, err := w.tree.Look(w.Context()); err == nil && look.State == Unlocked {
		_ = w.tree.Lock(w.Context())
	}
}

// goesOn calls what must go on after a kill. A lock that a killed git has left is removed, as its error says.
func (w *world) goesOn(call func() error) {
	w.Helper()
	err := call()
	for _, hint := range fail.HintsOf(err) {
		if _, lock, is := strings.Cut(hint, "to remove its lock: rm "); is {
			rig.Must(w, os.Remove(strings.Trim(lock, "'")))
			err = call()
		}
	}
	rig.Must(w, err)
}

// precious puts into the tree what a removal may lose, and returns its files and the commits that only it has.
func (w *world) precious() (files map[string]string, commits []string) {
	w.Helper()
	w.commit("n.txt", "n\n")
	w.git("tree", "push", "-q", "origin", "HEAD")
	w.commit("away.txt", "away\n")
	commits = append(commits, w.git("tree", "rev-parse", "HEAD"))
	w.git("tree", "reset", "-q", "--hard", "HEAD~1")
	commits = append(commits, w.git("tree", "rev-parse", "HEAD"))
	w.put("tree/build/deep/precious.bin", "\x00\x01"+strings.Repeat("precious", 3000))
	rig.Must(w, os.Symlink("precious.bin", w.at("tree/build/deep/link")))
	return w.contents(w.at("tree")), commits
}

// mustBeSafe checks that each file and each commit is there: in one of a few calls, after git has deleted all that it may.
func (w *world) mustBeSafe(files map[string]string, commits []string) {
	w.Helper()
	const collects = 6
	if w.checks++; w.checks%collects == 0 {
		w.collect()
	}
	aside, _ := filepath.Glob(w.tree.Path + ".removing-*/alice")
	w.mustHave(files, aside...)
	for _, commit := range commits {
		w.git("project", "cat-file", "-e", commit)
	}
}

func TestMakingThatIsKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	files := w.contents(w.at("tree"))
	w.git("project", "worktree", "remove", "--force", "--force", w.tree.Path)
	w.git("project", "branch", "-D", "nbs/alice")
	saved := w.save()
	points := rig.EachDeath(t, []string{renames, makes}, func() (*exec.Cmd, func(bool)) {
		return w.plays("make", saved), func(bool) {
			w.goesOn(func() error { return makeTree(w.Context(), w.at("project")) })
			rig.Same(w, "files", files, w.contents(w.at("tree")))
			rig.Equal(w, w.git("tree", "status", "--porcelain"), "", "status")
			rig.Equal(w, w.git("tree", "branch", "--show-current"), "nbs/alice", "the branch")
			rig.Equal(w, w.git("project", "status", "--porcelain"), "", "status of the project")
		}
	})
	rig.Check(t, points >= 5, "only %d points", points)
}

func TestRemovalThatIsKilledAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	files, commits := w.precious()
	saved, again := w.save(), false
	points := rig.EachDeath(t, []string{renames, deletes}, func() (*exec.Cmd, func(bool)) {
		return w.plays("remove", saved), func(bool) {
			w.mustBeSafe(files, commits)
			if again = !again; again {
				rig.Must(w, w.tree.Unlock(w.Context())) // as dismiss does
				w.mustBeSafe(files, commits)
				return
			}
			w.fix()
			w.mustBeSafe(files, commits)
			w.goesOn(func() error { _, err := w.remove(); return err })
			w.mustBeSafe(files, commits)
			w.restored(files)
		}
	})
	rig.Check(t, points >= 5, "only %d points", points)
}

func TestRestoreThatIsKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	files, commits := w.precious()
	_, err := w.remove()
	rig.Must(t, err)
	saved := w.save()
	points := rig.EachDeath(t, []string{writes}, func() (*exec.Cmd, func(bool)) {
		return w.plays("restore", saved), func(killed bool) {
			w.mustBeSafe(files, commits)
			if killed {
				w.goesOn(func() error { _, err := Restore(w.Context(), w.wish()); return err })
			}
			w.isRestored(files)
		}
	})
	rig.Check(t, points >= 5, "only %d points", points)
}
