package inspect

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/observe"
)

// A list says which branch is checked out in an agent's worktree, and what is changed there, by git's word of a short time
// ago.
func TestTreesInAList(t *testing.T) {
	t.Parallel()
	rig.Needs(t, "git")
	dir := rig.MemoryDir(t)
	main, tree := dir+"/project", dir+"/project.nbs/alice"
	git := func(at string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", at, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
		said, err := cmd.CombinedOutput()
		rig.Check(t, err == nil, "git %v: %s", args, said)
	}
	rig.Must(t, os.Mkdir(main, 0o700))
	git(main, "init", "-q")
	git(main, "commit", "-q", "--allow-empty", "-m", "first")
	git(main, "worktree", "add", "-q", "-b", "fix", tree)
	opened, err := store.Create(main)
	rig.Must(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	opened.Use(trust.NewKeeper(trust.Home(dir + "/state")))
	now := time.Now()
	i := New(&observe.Project{Store: opened, Now: func() time.Time { return now }})
	look := func(notAllowed error) *Tree {
		row := Row{Handle: "alice"}
		row.Record.Handle, row.Record.OwnWorktree, row.NotAllowed = "alice", agent.OwnWorktree{Path: tree, Branch: "nbs/alice"}, notAllowed
		rows := []Row{row, {Handle: "bob"}}
		i.lookAtTrees(t.Context(), rows, time.Hour)
		rig.Check(t, rows[1].Tree == nil, "bob has a tree")
		return rows[0].Tree
	}
	changed := func(want int) {
		t.Helper()
		seen := look(nil)
		rig.Check(t, seen != nil && seen.Branch == "fix" && !seen.Gone && seen.Changed != nil && *seen.Changed == want, "%+v; want %d", seen, want)
	}
	changed(0)
	rig.Must(t, os.WriteFile(filepath.Join(tree, "new.txt"), nil, 0o600))
	changed(0) // as git said a moment ago
	now = now.Add(looksLast)
	changed(1)
	rig.Check(t, look(errors.New("no seal")) == nil, "git was asked of a folder that the user has not allowed")
	rig.Must(t, os.RemoveAll(tree))
	seen := look(nil)
	rig.Check(t, seen.Gone && seen.Branch == "nbs/alice" && seen.Changed == nil, "%+v", seen)
}
