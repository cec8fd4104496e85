package worktree

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/sim/rig"
)

// loss is a way in which people have lost work with a worktree.
type loss struct {
	do   func(w *world)
	stay string // "": the tree is removed
}

var losses = map[string]loss{
	"untouched": {func(*world) {}, ""},
	"changed":   {func(w *world) { w.put("tree/a.txt", "b\n") }, `1 file is changed and not committed: "a.txt"`},
	"staged":    {func(w *world) { w.put("tree/n.txt", "b\n"); w.git("tree", "add", "n.txt") }, `"n.txt"`},
	"deleted":   {func(w *world) { rig.Must(w, os.Remove(w.at("tree/a.txt"))) }, `"a.txt"`},
	"untracked": {func(w *world) { w.put("tree/new.txt", "b\n") }, `1 file is in no commit: "new.txt"`},
	"untracked, not shown": {func(w *world) {
		w.git("project", "config", "status.showUntrackedFiles", "no")
		w.put("tree/new.txt", "b\n")
	}, `"new.txt"`},
	"ignored":            {func(w *world) { w.put("tree/build/precious.bin", "\x00\x01"); w.put("tree/build/\"q\n\\", "x") }, ""},
	"copied and changed": {func(w *world) { w.put("tree/secret.env", "KEY=2\n") }, `1 copied file differs from that of the repository: "secret.env"`},
	"hidden from git": {func(w *world) {
		w.git("tree", "update-index", "--assume-unchanged", "a.txt")
		w.put("tree/a.txt", "b\n")
	}, `hidden from git's status: "a.txt"`},
	"not pushed":          {func(w *world) { w.commit("n.txt", "n\n") }, "1 commit of it in no other branch and no remote one"},
	"pushed":              {func(w *world) { w.commit("n.txt", "n\n"); w.git("tree", "push", "-q", "origin", "HEAD") }, ""},
	"merged":              {func(w *world) { w.commit("n.txt", "n\n"); w.git("project", "merge", "-q", "nbs/alice") }, ""},
	"squash-merged":       {(*world).squashed, ""},
	"in another agent's":  {func(w *world) { w.commit("n.txt", "n\n"); w.git("project", "branch", "nbs/bob", "nbs/alice") }, "1 commit"},
	"stashed":             {func(w *world) { w.put("tree/a.txt", "b\n"); w.git("tree", "stash") }, "1 change of its branch in the stash"},
	"detached":            {func(w *world) { w.git("tree", "checkout", "-q", "--detach"); w.commit("n.txt", "n\n") }, "1 commit"},
	"reset away":          {func(w *world) { w.commit("n.txt", "n\n"); w.git("tree", "reset", "-q", "--hard", "HEAD~1") }, ""},
	"in a merge":          {(*world).conflicted, "a merge of git's has not ended there"},
	"a repository in it":  {func(w *world) { w.git("tree", "init", "-q", "build/other"); w.put("tree/build/other/x", "x") }, `1 folder is a repository of its own: "build/other"`},
	"a pipe in it":        {func(w *world) { w.put("tree/build/x", ""); w.run("mkfifo", w.at("tree/build/fifo")) }, `1 name is neither a file nor a link: "build/fifo"`},
	"links":               {func(w *world) { w.put("tree/build/x", "x"); rig.Must(w, os.Symlink("/etc", w.at("tree/build/etc"))) }, ""},
	"moved by hand":       {func(w *world) { rig.Must(w, os.Rename(w.at("tree"), w.at("elsewhere"))) }, "it is not there: it was moved or deleted"},
	"moved, and repaired": {(*world).moved, "it was moved to"},
	"deleted by hand":     {func(w *world) { rig.Must(w, os.RemoveAll(w.at("tree"))) }, "it is not there: it was moved or deleted"},
	"not git's any more":  {func(w *world) { rig.Must(w, os.Remove(w.at("tree/.git"))) }, "whether it is the agent's tree cannot be found out"},
	"another one's":       {(*world).replaced, "belongs to another repository"},
	"damaged repository":  {func(w *world) { w.put("project/.git/HEAD", "x") }, "cannot be found out"},
	"locked by a person": {func(w *world) {
		w.git("project", "worktree", "unlock", w.at("tree"))
		w.git("project", "worktree", "lock", "--reason", "usb disk", w.at("tree"))
	}, `a person has locked it: "usb disk"`},
	"damaged index":         {func(w *world) { w.put("project/.git/worktrees/alice/index", "x") }, "what is changed in it cannot be found out"},
	"a command of git runs": {func(w *world) { w.put("project/.git/worktrees/alice/index.lock", "") }, "a command of git's has not ended there"},
}

// The ways in which people have lost work with a worktree. Each must end with the work in the tree or kept.
func TestWaysToLoseWork(t *testing.T) {
	t.Parallel()
	for what, c := range losses {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c.do(w)
			before := map[string]string{}
			if w.tree.IsThere() {
				before = w.contents(w.at("tree"))
			}
			done, err := w.remove()
			if (err != nil) != (c.stay != "") || err != nil && !strings.Contains(err.Error(), c.stay) {
				t.Fatalf("%v; want %q", err, c.stay)
			}
			w.mustHave(before)
			if c.stay != "" {
				rig.Equal(t, fail.KindOf(err), fail.Conflict, "kind")
				if len(before) > 0 {
					rig.Equal(t, len(w.contents(w.at("tree"))), len(before), "files that stay")
				}
				return
			}
			rig.Check(t, !w.tree.IsThere(), "the tree is still there")
			rig.Equal(t, done.BranchDeleted, "nbs/alice", "the branch")
			rig.Check(t, !strings.Contains(w.git("project", "worktree", "list"), w.tree.Path), "git still has it")
			left, err := os.ReadDir(filepath.Dir(w.tree.Path))
			rig.Check(t, os.IsNotExist(err), "left: %v", left)
			w.restored(before)
		})
	}
}

// restored brings the tree back and compares it.
func (w *world) restored(before map[string]string) {
	w.Helper()
	_, err := Restore(w.Context(), w.wish())
	rig.Must(w, err)
	w.isRestored(before)
}

func (w *world) isRestored(before map[string]string) {
	w.Helper()
	after := w.contents(w.tree.Path)
	rig.Equal(w, len(after), len(before), "files that were brought back")
	for name, text := range before {
		rig.Equal(w, after[name], text, "%s", name)
	}
	rig.Equal(w, w.git("tree", "status", "--porcelain"), "", "status after the restore")
	rig.Equal(w, w.git("tree", "branch", "--show-current"), "nbs/alice", "branch after the restore")
}

func (w *world) run(name string, args ...string) {
	w.Helper()
	if said, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		w.Fatalf("%s: %v: %s", name, err, said)
	}
}

func (w *world) squashed() {
	w.commit("n.txt", "n\n")
	w.commit("m.txt", "m\n")
	w.git("project", "merge", "-q", "--squash", "nbs/alice")
	w.git("project", "commit", "-qm", "squashed")
	w.put("project/n.txt", "went on\n")
	w.git("project", "commit", "-qam", "went on")
}

func (w *world) conflicted() {
	w.put("project/a.txt", "theirs\n")
	w.git("project", "commit", "-qam", "theirs")
	w.commit("a.txt", "ours\n")
	_ = exec.Command("git", "-C", w.at("tree"), "-c", "user.name=a", "-c", "user.email=a@b", "merge", "main").Run()
}

func (w *world) moved() {
	rig.Must(w, os.Rename(w.at("tree"), w.at("elsewhere")))
	w.git("project", "worktree", "repair", w.at("elsewhere"))
}

func (w *world) replaced() {
	rig.Must(w, os.RemoveAll(w.at("tree")))
	w.put("tree/other.txt", "x")
	w.git("tree", "init", "-q")
}

// What cannot be kept is found while the agent runs, and no hint is there twice.
func TestWhatCannotBeKeptIsFoundBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("tree/new.txt", "b\n")
	w.put("tree/a.txt", "b\n")
	w.git("tree", "init", "-q", "build/other")
	w.git("tree", "init", "-q", "build/more")
	w.run("mkfifo", w.at("tree/build/fifo"))
	err := w.removal().Check(t.Context())
	rig.Check(t, err != nil && strings.Contains(err.Error(), `2 folders are repositories of their own: "build/more", "build/other"; 1 name is neither a file nor a link: "build/fifo"`), "%v", err)
	rig.Same(t, "hints", []string{
		"to see them: git -C " + human.ShellWord(w.tree.Path) + " status; then commit them, or delete those that are not needed", "move it out of " + human.ShellWord(w.tree.Path) + ", or delete it: no commit can keep it",
	}, fail.HintsOf(err))
}

// The branch that was made for an agent goes with the tree after a rename too.
func TestBranchOfARenamedAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tree.Handle = "zoe"
	done, err := w.remove()
	rig.Must(t, err)
	rig.Equal(t, done.BranchDeleted, "nbs/alice", "the branch")
	wish := w.wish()
	wish.Handle = "zoe"
	_, err = Restore(t.Context(), wish)
	rig.Must(t, err)
	rig.Equal(t, w.git("tree", "branch", "--show-current"), "nbs/alice", "branch after the restore")
}

// A commit that only the log of the tree's HEAD has stays reachable.
func TestCommitThatWasResetAwayIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit("n.txt", "n\n")
	lost := w.git("tree", "rev-parse", "HEAD")
	w.git("tree", "reset", "-q", "--hard", "HEAD~1")
	w.git("tree", "checkout", "-q", "--detach")
	w.commit("d.txt", "d\n")
	detached := w.git("tree", "rev-parse", "HEAD")
	w.git("tree", "checkout", "-q", "nbs/alice")
	_, err := w.remove()
	rig.Must(t, err)
	w.git("project", "-c", "gc.reflogExpire=now", "-c", "gc.reflogExpireUnreachable=now", "gc", "-q", "--prune=now")
	w.mustReach(lost)
	w.mustReach(detached)
}

// A process in the tree, this one too, keeps it.
func TestProcessInTheTree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("tree/build/x", "x")
	cmd := exec.Command("cat")
	cmd.Dir = w.at("tree/build")
	in, err := cmd.StdinPipe()
	rig.Must(t, err)
	rig.Must(t, cmd.Start())
	_, err = w.remove()
	rig.Check(t, err != nil && strings.Contains(err.Error(), `("cat") works in it`), "%v", err)
	rig.Must(t, in.Close())
	rig.Must(t, cmd.Wait())
	_, err = w.remove()
	rig.Must(t, err)
}

// A process that works elsewhere and has a file of the tree open keeps it: what it writes later would be lost.
func TestProcessWithAFileOfTheTree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("tree/build/x.log", "early\n")
	file, err := os.OpenFile(w.at("tree/build/x.log"), os.O_APPEND|os.O_WRONLY, 0)
	rig.Must(t, err)
	cmd := exec.Command("cat")
	cmd.Dir, cmd.Stdout = "/", file
	in, err := cmd.StdinPipe()
	rig.Must(t, err)
	rig.Must(t, cmd.Start())
	rig.Must(t, file.Close())
	_, err = w.remove()
	rig.Check(t, err != nil && strings.Contains(err.Error(), `("cat") has "`+w.at("tree/build/x.log")+`" open`), "%v", err)
	rig.Must(t, in.Close())
	rig.Must(t, cmd.Wait())
	_, err = w.remove()
	rig.Must(t, err)
}

// Another agent that works in the tree keeps it.
func TestSharedTree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.removal()
	r.Others = func() []Obstacle { return []Obstacle{{What: "bob works in it"}} }
	_, err := r.Remove(t.Context())
	rig.Check(t, err != nil && strings.Contains(err.Error(), "bob works in it") && w.tree.IsThere(), "%v", err)
}

// A removal that is killed after any step loses nothing, and the next one goes on.
func TestRemovalThatIsKilled(t *testing.T) {
	t.Parallel()
	killed := errors.New("killed")
	for _, step := range []string{"kept", "beside", "moved", "deleted a file", "deleted", "forgotten", "branch"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put("tree/build/deep/precious.bin", "\x00\x01")
			w.commit("n.txt", "n\n")
			w.git("tree", "push", "-q", "origin", "HEAD")
			head := w.git("tree", "rev-parse", "HEAD")
			before := w.contents(w.at("tree"))
			r := w.removal()
			r.after = func(at string) error {
				if at == step {
					return killed
				}
				return nil
			}
			_, err := r.Remove(t.Context())
			rig.Check(t, errors.Is(err, killed), "%v", err)
			w.mustHave(before)
			w.mustReach(head)
			done, err := w.remove()
			rig.Must(t, err)
			rig.Check(t, !w.tree.IsThere() && done.Kept.Ref != "", "%+v", done)
			left, err := os.ReadDir(filepath.Dir(w.tree.Path))
			rig.Check(t, os.IsNotExist(err), "left: %v", left)
			w.restored(before)
			_, err = w.removal().Remove(t.Context()) // it is a tree again
			rig.Must(t, err)
		})
	}
}

// What is written while a removal goes on stays, wherever it is written.
func TestWrittenWhileItIsRemoved(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"kept", "moved", "deleted a file"} {
		for _, name := range []string{"build/late.bin", "late.txt", "a.txt", "secret.env"} {
			t.Run(step+" "+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				before := w.contents(w.at("tree"))
				r := w.removal()
				wrote := false
				r.after = func(at string) error {
					if at != step || wrote {
						return nil
					}
					wrote = true
					place := w.tree.Path
					if found, _ := filepath.Glob(w.tree.Path + ".removing-*/alice"); len(found) > 0 {
						place = found[0]
					}
					path := filepath.Join(place, name)
					rig.Must(w, os.MkdirAll(filepath.Dir(path), 0o700))
					rig.Must(w, os.WriteFile(path, []byte("late"), 0o600))
					return nil
				}
				_, err := r.Remove(t.Context())
				rig.Check(t, err != nil, "it was removed")
				aside, _ := filepath.Glob(w.tree.Path + ".removing-*/alice")
				w.mustHave(map[string]string{name: "late"}, aside...)
				w.mustHave(before, aside...)
			})
		}
	}
}

// If git fails, at whatever it is asked, nothing is lost, and the next removal goes on.
func TestGitThatFails(t *testing.T) {
	usual := os.Getenv("PATH")
	real, err := exec.LookPath("git")
	rig.Must(t, err)
	for _, verb := range []string{"fast-import", "ls-tree", "worktree unlock", "worktree remove", "update-ref", "for-each-ref", "status", "ls-files", "rev-parse", "rev-list", "merge-base"} {
		w := newWorld(t)
		w.put("tree/build/precious.bin", "\x00\x01")
		w.squashed()
		before, head := w.contents(w.at("tree")), w.git("tree", "rev-parse", "HEAD")
		w.put("bin/git", "#!/bin/sh\ncase \"$*\" in *' "+verb+" '*) echo broken >&2; exit 128;; esac\nexec "+real+" \"$@\"\n")
		rig.Must(t, os.Chmod(w.at("bin/git"), 0o700))
		t.Setenv("PATH", w.at("bin")+":"+usual)
		_, err := w.remove()
		t.Setenv("PATH", usual)
		rig.Check(t, err != nil && strings.Contains(err.Error(), "broken"), "%s: %v", verb, err)
		w.mustHave(before)
		w.mustReach(head)
		_, err = w.remove()
		rig.Must(t, err)
		w.restored(before)
	}
}

// A repository on another disk than its trees, or a tree that is a disk of its own, loses nothing.
func TestTreeOnAnotherDisk(t *testing.T) {
	t.Parallel()
	mounts := rig.PrivateMounts(t)
	w := newWorld(t)
	before := w.contents(w.at("tree"))
	_, err := w.remove()
	rig.Must(t, err)
	mounts.Tmpfs(w.at("project.nbs"), "16m")
	w.restored(before)
	w.put("tree/build/precious.bin", "\x00\x01")
	before = w.contents(w.at("tree"))
	_, err = w.remove()
	rig.Must(t, err)
	w.mustHave(before)
	rig.Check(t, !w.tree.IsThere(), "it is still there")
	w.restored(before)

	_, err = w.remove()
	rig.Must(t, err)
	mounts.Tmpfs(w.tree.Path, "16m")
	w.restored(before)
	_, err = w.remove()
	rig.Check(t, err != nil && w.tree.IsThere(), "a disk was removed: %v", err)
	rig.Same(t, "files", before, w.contents(w.at("tree")))
}
