package changes

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// repo is a repository of a user.
type repo struct {
	testing.TB

	dir string
}

// newRepo makes a repository with one commit, of an hour ago, on the branch main.
func newRepo(t *testing.T) repo {
	t.Helper()
	r := repo{t, filepath.Join(rig.MemoryDir(t), "shop")}
	rig.Must(t, os.Mkdir(r.dir, 0o700))
	r.git("init", "-q", "-b", "main")
	r.write("price.go", "one\ntwo\nthree\n")
	r.write("old.go", strings.Repeat("the same line\n", 20))
	r.write(".gitignore", "*.log\n")
	r.commitAt(time.Now().Add(-time.Hour), "first")
	return r
}

// in is the same repository, in another folder.
func (r repo) in(dir string) repo { return repo{r.TB, dir} }

// git runs git as the user does, an hour ago unless said otherwise.
func (r repo) git(args ...string) string {
	r.Helper()
	return r.gitAt(time.Now().Add(-time.Hour), args...)
}

func (r repo) gitAt(at time.Time, args ...string) string {
	r.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	date := fmt.Sprintf("%d +0000", at.Unix())
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=u", "GIT_AUTHOR_EMAIL=u@example.org", "GIT_COMMITTER_NAME=u",
		"GIT_COMMITTER_EMAIL=u@example.org", "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	out, err := cmd.CombinedOutput()
	rig.Check(r, err == nil, "git %s: %v: %s", strings.Join(args, " "), err, out)
	return strings.TrimSpace(string(out))
}

func (r repo) commitAt(at time.Time, subject string) string {
	r.Helper()
	r.git("add", "-A")
	r.gitAt(at, "commit", "-q", "-m", subject)
	return r.git("rev-parse", "HEAD")
}

func (r repo) commit(subject string) string {
	r.Helper()
	return r.commitAt(time.Now(), subject)
}

func (r repo) write(name, text string) {
	r.Helper()
	path := filepath.Join(r.dir, name)
	rig.Must(r, os.MkdirAll(filepath.Dir(path), 0o700))
	rig.Must(r, os.WriteFile(path, []byte(text), 0o600))
}

// worktree makes a worktree beside the repository, and the record of its agent.
func (r repo) worktree() (repo, *agent.Record) {
	r.Helper()
	tree, base := r.dir+".nbs/alice", r.git("rev-parse", "HEAD")
	r.git("worktree", "add", "-q", "-b", "nbs/alice", tree)
	own := agent.OwnWorktree{Path: tree, Common: filepath.Join(r.dir, ".git"), Branch: "nbs/alice", Base: base}
	return r.in(tree), &agent.Record{Spec: agent.Spec{Handle: "alice", ProjectRoot: r.dir, Cwd: tree, OwnWorktree: own}}
}

// inPlace is the record of an agent that was first started half an hour ago, in the repository itself.
func (r repo) inPlace() *agent.Record {
	return &agent.Record{Spec: agent.Spec{Handle: "alice", ProjectRoot: r.dir}, Created: time.Now().Add(-30 * time.Minute)}
}

func (r repo) changes(of *agent.Record, wanted Wanted) *Changes {
	r.Helper()
	c, err := Of(r.Context(), of, &agent.Report{}, wanted)
	rig.Must(r, err)
	return c
}

// told puts changes in one line each: kind, lines, path, and a star for what is not committed.
func told(c *Changes) string {
	var lines []string
	for _, f := range c.Files {
		line := fmt.Sprintf("%s +%d -%d %s", f.Kind, f.Added, f.Removed, f.Path)
		if f.Binary {
			line = f.Kind + " binary " + f.Path
		}
		if f.From != "" {
			line += " from " + f.From
		}
		if f.Uncommitted {
			line += " *"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "; ")
}

// What is committed, what is not, and what git does not track yet is a change; an ignored file is not. The tree and its
// index stay as they are.
func TestChangesOfAnOwnWorktree(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	tree, alice := r.worktree()
	rig.Equal(t, told(tree.changes(alice, Wanted{})), "", "changes of a new worktree")
	tree.write("price.go", "one\n2\nthree\n")
	tree.git("mv", "old.go", "new.go")
	tree.commit("prices")
	tree.write("price.go", "one\n2\nthree\nfour\n")
	tree.write("sub/ü \"x\"\n.txt", "new\n")
	tree.write("a.bin", "\x00\x01")
	tree.write("x.log", "ignored\n")
	before := tree.git("status", "--porcelain")
	c := tree.changes(alice, Wanted{})
	rig.Equal(t, told(c), "A binary a.bin *; R +0 -0 new.go from old.go; M +2 -1 price.go *; A +1 -0 sub/ü \"x\"\n.txt *", "changes")
	rig.Check(t, c.Commits == 1 && c.Unmerged == 1 && c.Uncommitted == 3 && c.Base.Words == "where nbs/alice left main" && c.Main.Path == r.dir && !c.IsMain, "%+v %+v", c, c.Tree)
	patch, err := c.Patch(t.Context())
	rig.Must(t, err)
	rig.Equal(t, tree.git("status", "--porcelain"), before, "the state of the tree")

	r.write("../it.patch", patch)
	r.git("apply", "../it.patch")
	for _, name := range []string{"price.go", "new.go", "a.bin", "sub/ü \"x\"\n.txt"} {
		want, err := os.ReadFile(filepath.Join(tree.dir, name))
		rig.Must(t, err)
		got, err := os.ReadFile(filepath.Join(r.dir, name))
		rig.Check(t, err == nil && string(got) == string(want), "%s after the patch: %q, %v", name, got, err)
	}
}

// A change of a file that git's index does not show, because it came in the tick in which the index was written, is one.
func TestChangeInTheTickOfTheIndex(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	tree, alice := r.worktree()
	tree.git("config", "core.trustctime", "false")
	tick := time.Now().Add(-time.Hour).Truncate(time.Second)
	path := filepath.Join(tree.dir, "price.go")
	rig.Must(t, os.Chtimes(path, tick, tick))
	tree.git("update-index", "--refresh")
	rig.Must(t, os.Chtimes(filepath.Join(r.dir, ".git/worktrees/alice/index"), tick, tick))
	text, err := os.ReadFile(path)
	rig.Must(t, err)
	tree.write("price.go", strings.ToUpper(string(text)))
	rig.Must(t, os.Chtimes(path, tick, tick))
	rig.Check(t, strings.HasSuffix(told(tree.changes(alice, Wanted{})), "price.go *"), "%s", told(tree.changes(alice, Wanted{})))
}

// What came into the branch from that of the user is not the agent's change, whether by a merge or a rebase; neither is what
// the user has merged.
func TestTheBaseFollowsTheBranches(t *testing.T) {
	t.Parallel()
	for name, follow := range map[string][]string{"merge": {"merge", "-q", "-m", "merged", "main"}, "rebase": {"rebase", "-q", "main"}} {
		r := newRepo(t)
		tree, alice := r.worktree()
		tree.write("mine.go", "mine\n")
		tree.commit("mine")
		r.write("theirs.go", "theirs\n")
		r.commit("theirs")
		tree.git(follow...)
		rig.Equal(t, told(tree.changes(alice, Wanted{})), "A +1 -0 mine.go", "after a %s", name)
		r.git("merge", "-q", "nbs/alice")
		c := tree.changes(alice, Wanted{})
		rig.Check(t, told(c) == "" && c.Unmerged == 0, "after the user's merge: %s, %+v", told(c), c)
		rig.Equal(t, told(tree.changes(alice, Wanted{Base: alice.OwnWorktree.Base})), "A +1 -0 mine.go; A +1 -0 theirs.go", "against the commit where it began")
	}
}

// A branch that began at another branch than that of the main tree is compared with the commit where it began.
func TestTheBaseOfABranchOfABranch(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.git("checkout", "-q", "-b", "feature")
	r.write("feature.go", "x\n")
	r.commit("feature")
	tree, alice := r.worktree()
	r.git("checkout", "-q", "main")
	tree.write("mine.go", "mine\n")
	c := tree.changes(alice, Wanted{})
	rig.Check(t, told(c) == "A +1 -0 mine.go *" && c.Base.Words == "where nbs/alice began", "%s, %+v", told(c), c.Base)
}

// An agent without a worktree of its own is compared with what was checked out at its first start.
func TestChangesInTheMainTree(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	alice := r.inPlace()
	r.write("price.go", "one\n")
	r.commit("prices")
	r.write("note.txt", "x\n")
	c := r.changes(alice, Wanted{})
	rig.Check(t, told(c) == "A +1 -0 note.txt *; M +0 -2 price.go" && c.IsMain && strings.Contains(c.Base.Words, "its first start"), "%s, %+v", told(c), c.Base)

	r.git("checkout", "-q", "--orphan", "other")
	r.commit("other")
	c = r.changes(alice, Wanted{})
	rig.Check(t, told(c) == "" && strings.Contains(c.Base.Words, "its last commit"), "on a branch without a common commit: %s, %+v", told(c), c.Base)
	rig.Must(t, os.RemoveAll(filepath.Join(r.dir, ".git/logs")))
	rig.Check(t, strings.Contains(r.changes(alice, Wanted{}).Base.Words, "no log"), "without a log: %+v", c.Base)
}

func TestChangesWithoutACommit(t *testing.T) {
	t.Parallel()
	dir := rig.MemoryDir(t)
	r := repo{t, dir}
	r.git("init", "-q")
	r.write("a.go", "x\n")
	rig.Equal(t, told(r.changes(r.inPlace(), Wanted{})), "A +1 -0 a.go *", "changes")
}

func TestWhereThereAreNoChanges(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	for words, c := range map[string]struct {
		folder string
		wanted Wanted
	}{
		"is gone": {r.dir + "/gone", Wanted{}}, "in no git working tree": {rig.MemoryDir(t), Wanted{}}, `"--all" is no commit`: {r.dir, Wanted{Base: "--all"}},
		`"x" is no commit`: {r.dir, Wanted{Base: "x"}},
	} {
		_, err := Of(t.Context(), &agent.Record{Spec: agent.Spec{ProjectRoot: c.folder}}, &agent.Report{}, c.wanted)
		rig.Check(t, fail.KindOf(err) == fail.NotFound && strings.Contains(err.Error(), words), "%s: %v", words, err)
	}
}

// A program that only the repository names does not run, in whichever way it is named.
func TestNoProgramOfTheRepositoryRuns(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	tree, alice := r.worktree()
	trap := filepath.Join(rig.MemoryDir(t), "RAN")
	command := "touch " + trap + " #"
	for _, name := range []string{
		"core.pager", "pager.diff", "diff.external", "diff.t.command", "diff.t.textconv", "filter.t.clean", "filter.t.smudge", "filter.u.process", "core.fsmonitor",
	} {
		r.git("config", name, command)
	}
	r.git("config", "filter.t.required", "true")
	r.write(".git/info/attributes", "*.go diff=t filter=t\n*.txt filter=u\n")
	_ = os.Remove(trap) // the user's own git may have run it
	tree.write("price.go", "changed\n")
	tree.write("new.txt", "new\n")
	tree.write("new.go", "new\n")
	c := tree.changes(alice, Wanted{})
	rig.Equal(t, told(c), "A +1 -0 new.go *; A +1 -0 new.txt *; M +1 -3 price.go *", "changes")
	_, err := c.Patch(t.Context())
	rig.Must(t, err)
	pager, err := c.Pager(t.Context())
	rig.Must(t, err)
	rig.Equal(t, pager == command, false, "the pager is the repository's")
	rig.Must(t, c.Page(t.Context(), "PAGER=cat"))
	_, err = os.Stat(trap)
	rig.Check(t, os.IsNotExist(err), "a program of the repository ran: %v", err)
}
