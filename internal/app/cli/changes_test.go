package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// gitIn runs git in a folder, as a user.
func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=u", "-c", "user.email=u@example.org"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	rig.Check(t, err == nil, "git %s: %v: %s", strings.Join(args, " "), err, out)
	return strings.TrimSpace(string(out))
}

// withWorktree makes a project with an agent alpha that has a worktree, in which it has committed a file and left another.
func withWorktree(t *testing.T) (project, tree string) {
	t.Helper()
	repo := filepath.Join(rig.MemoryDir(t), "the shop")
	rig.Must(t, os.Mkdir(repo, 0o700))
	gitIn(t, repo, "init", "-q", "-b", "main")
	gitIn(t, repo, "commit", "-q", "--allow-empty", "-m", "first")
	tree = repo + ".nbs/alpha"
	gitIn(t, repo, "worktree", "add", "-q", "-b", "nbs/alpha", tree)
	alpha := uitest.Record("alpha")
	alpha.Cwd = tree
	alpha.OwnWorktree = agent.OwnWorktree{Path: tree, Common: repo + "/.git", Branch: "nbs/alpha", Base: gitIn(t, repo, "rev-parse", "HEAD")}
	rig.Must(t, os.WriteFile(tree+"/done.go", []byte("a\nb\n"), 0o600))
	gitIn(t, tree, "add", ".")
	gitIn(t, tree, "commit", "-q", "-m", "done")
	rig.Must(t, os.WriteFile(tree+"/open.go", []byte("c\td\n"), 0o600))
	return newProject(t, alpha), tree
}

func TestChanges(t *testing.T) {
	t.Parallel()
	project, tree := withWorktree(t)
	merge := "git -C '" + strings.TrimSuffix(tree, ".nbs/alpha") + "' merge nbs/alpha"
	r := run("changes", "alpha", "--root", project).want(t, 0, "hint: to merge: "+merge+"\n", "--root "+project+" changes alpha --patch", "leaves out what is not committed")
	rig.Equal(t, r.out, "added\t2\t0\tyes\tdone.go\nadded\t1\t0\tno\topen.go\n", "the list in a pipe")
	rig.Check(t, !strings.Contains(r.err, "others"), "others may have changed its own worktree: %s", r.err)

	r = runOn(ui.Streams{OutTTY: true, ErrTTY: true, Width: 80}, "changes", "alpha", "--root", project).want(t, 0)
	rig.Check(t, strings.Contains(strings.Join(strings.Fields(r.err), " "), "where nbs/alpha left main; 1 commit since"), "what it compares: %s", r.err)
	uitest.MustFit(t, r.out, "CHANGE  ADDED  REMOVED  COMMITTED  FILE\n", "added   2      0        yes        done.go\n")

	r = run("changes", "alpha", "--root", project, "--patch").want(t, 0)
	rig.Check(t, strings.HasPrefix(r.out, "diff --git a/done.go b/done.go\n") && strings.HasSuffix(r.out, "+c\td\n") && r.err == "", "the patch:\n%s\n%s", r.out, r.err)

	r = run("changes", "alpha", "--root", project, "--json").want(t, 0)
	var got struct {
		Tree, Branch string
		Own          bool
		BaseIs       string `json:"base_is"`
		Merge        []string
		Files        []struct {
			Path      string
			Added     int
			Committed bool
		}
	}
	rig.Must(t, json.Unmarshal([]byte(r.out), &got))
	rig.Check(t, got.Tree == tree && got.Own && got.Branch == "nbs/alpha" && len(got.Merge) == 1 && got.Merge[0] == merge && len(got.Files) == 2 && got.Files[0].Added == 2 && !got.Files[1].Committed, "%s", r.out)
	run("changes", "alpha", "--root", project, "--against", "no-such").want(t, fail.NotFound, `"no-such" is no commit`)
}

// After a merge, changes says how much of the work is merged, and not that there was none.
func TestChangesAfterAMerge(t *testing.T) {
	t.Parallel()
	project, tree := withWorktree(t)
	repo := strings.TrimSuffix(tree, ".nbs/alpha")
	gitIn(t, repo, "merge", "-q", "nbs/alpha")
	r := run("changes", "alpha", "--root", project).want(t, 0, "note: 1 commit of its own is merged into main already\n")
	rig.Equal(t, r.out, "added\t1\t0\tno\topen.go\n", "what is not merged")
	rig.Must(t, os.Remove(tree+"/open.go"))
	runOn(ui.Streams{OutTTY: true, ErrTTY: true}, "changes", "alpha", "--root", project).want(t, 0, "all that alpha has changed is merged: 1 commit of its own is in main\n")

	rig.Must(t, os.WriteFile(tree+"/more.go", []byte("a\n"), 0o600))
	gitIn(t, tree, "add", ".")
	gitIn(t, tree, "commit", "-q", "-m", "more")
	gitIn(t, repo, "merge", "-q", "--squash", "nbs/alpha")
	gitIn(t, repo, "commit", "-q", "-m", "squashed")
	r = run("changes", "alpha", "--root", project).want(t, 0, "note: main has each of these files as it is here, by another commit\n")
	rig.Check(t, r.out == "added\t1\t0\tyes\tmore.go\n" && !strings.Contains(r.err, "to merge"), "%s\n%s", r.out, r.err)
}

// In a folder that agents share, the list has the changes of all; it says so.
func TestChangesInASharedFolder(t *testing.T) {
	t.Parallel()
	alpha, dir := uitest.Record("alpha"), rig.MemoryDir(t)
	alpha.Cwd = dir
	project := newProject(t, alpha)
	run("changes", "alpha", "--root", project).want(t, fail.NotFound, "in no git working tree")
	gitIn(t, dir, "init", "-q", "-b", "main")
	gitIn(t, dir, "commit", "-q", "--allow-empty", "-m", "first")
	r := run("changes", "alpha", "--root", project).want(t, 0, "what others have changed there too")
	rig.Check(t, r.out == "" && !strings.Contains(r.err, "merge"), "%s\n%s", r.out, r.err)
	runOn(ui.Streams{OutTTY: true, ErrTTY: true}, "changes", "alpha", "--root", project, "--patch").want(t, 0, "alpha has changed nothing")
}

// What a restore has done is printed before what can follow.
func TestRestoredBeforeItsHint(t *testing.T) {
	t.Parallel()
	project, tree := withWorktree(t)
	rig.Must(t, os.RemoveAll(tree))
	said := &bytes.Buffer{}
	code := Main([]string{"worktree", "restore", "alpha", "--root", project}, ui.Streams{In: strings.NewReader(""), Out: said, Err: said, OutTTY: true, ErrTTY: true})
	done, hint := strings.Index(said.String(), "restored "), strings.Index(said.String(), "to have an agent work there: ")
	rig.Check(t, code == 0 && done >= 0 && hint > done, "%d: %s", code, said)
}

// On a narrow terminal, a list of worktrees has their folders as seen from the project, and no branch that a handle says.
func TestWorktreesInEightyColumns(t *testing.T) {
	t.Parallel()
	project, tree := withWorktree(t)
	terminal := ui.Streams{OutTTY: true, ErrTTY: true, Width: 80}
	r := runOn(terminal, "worktree", "list", "--root", project).want(t, 0)
	uitest.MustFit(t, r.out, "HANDLE  STATE  FOLDER\n", "alpha   there  ../"+filepath.Base(strings.TrimSuffix(tree, "/the shop.nbs/alpha"))+"/the shop.nbs/alpha\n", "    stays: ")
	r = run("worktree", "list", "--root", project).want(t, 0)
	rig.Check(t, strings.HasPrefix(r.out, "alpha\tthere\tnbs/alpha\t"+tree+"\t"), "in a pipe: %s", r.out)
}
