package life

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// An agent with a worktree of its own: it works there, and the tree is removed only when nothing in it can be lost.

// withTree has alpha run in a worktree, and returns its folder.
func (m *team) withTree(args ...string) string {
	m.Helper()
	m.Write(m.World.Project+"/a.txt", "a\n")
	m.Write(m.World.Project+"/.gitignore", "*.env\n.nbs\n")
	m.Write(m.World.Project+"/secret.env", "KEY=1\n")
	m.Write(m.World.Project+"/.worktreeinclude", "*.env\n")
	m.Git(m.World.Project, "init", "-q")
	m.Git(m.World.Project, "add", "-A")
	m.Git(m.World.Project, "commit", "-qm", "first")
	m.OK(append([]string{"spawn", "alpha", "--worktree", "--trust"}, args...)...)
	s := m.WaitState("alpha", "idle")
	return s.Cwd
}

func TestAgentWithItsOwnWorktree(t *testing.T) {
	m := standIn(t)
	tree := m.withTree()
	m.Check(tree == m.World.Project+".nbs/alpha", "it works in %s", tree)
	m.MustSay(m.Git(tree, "branch", "--show-current"), "nbs/alpha")
	m.MustSay(m.Git(m.World.Project, "worktree", "list", "--porcelain"), "locked nbs-worker: agent alpha of "+m.World.Project)
	text, err := os.ReadFile(tree + "/secret.env")
	m.Check(err == nil && string(text) == "KEY=1\n", "the copied file: %s, %v", text, err)
	m.MustPrint("alpha\tthere\tnbs/alpha\t"+tree+"\t-\n", "worktree", "list")
	m.MustSay(m.OK("list", "--json"), `"own_worktree":{"path":"`+tree+`","branch":"nbs/alpha","gone":false`)
	m.Refused(5, "is checked out in", "spawn", "beta", "--worktree=nbs/alpha")

	// What would be lost keeps the tree, and the agent.
	m.Write(tree+"/new.txt", "new\n")
	r := m.Refused(5, `it is not dismissed: the worktree "`+tree+`" stays: 1 file is in no commit: "new.txt"`, "dismiss", "alpha", "--remove-worktree")
	m.MustSay(r.Stderr, "status; then commit them, or delete those that are not needed", "hint: to dismiss it, and leave its worktree: nbs-worker dismiss alpha")
	m.MustBe("alpha", "idle")
	m.Git(tree, "add", "-A")
	m.Git(tree, "commit", "-qm", "new")
	r = m.Refused(5, "1 commit of it in no other branch and no remote one", "dismiss", "alpha", "--remove-worktree")
	m.MustSay(r.Stderr, "; to merge them: git -C '"+m.World.Project+"' merge 'nbs/alpha'; ")
	m.Check(!strings.Contains(r.Stderr, "…"), "a command is cut: %s", r.Stderr)
	m.Git(m.World.Project, "merge", "-q", "nbs/alpha")
	beta := m.NBS("spawn", "beta", "--cwd", tree)
	m.MustSay(beta.String(), "exit code 0", "it shares a git worktree with alpha; each is told of the other")
	m.OK("send", "beta", "Hello.")
	_, sent := m.FirstRequest(m.Session("beta").SessionID)
	m.MustSay(sent, "other agents work in the git worktree")
	rig.Eventually(m, "alpha is told of beta", func() bool {
		return strings.Contains(m.NBS("logs", "alpha", "--all").Stdout, "The agent beta now works in the git worktree")
	})
	m.Refused(5, "another agent works in it: beta", "dismiss", "alpha", "--remove-worktree")
	m.OK("dismiss", "beta")

	r = m.NBS("dismiss", "alpha", "--remove-worktree")
	m.Check(r.Code == 0, "%s", r)
	m.MustSay(r.Stderr, `its worktree and its branch "nbs/alpha" were removed; to bring it back: nbs-worker worktree restore alpha`)
	_, err = os.Stat(filepath.Dir(tree))
	m.Check(os.IsNotExist(err), "left of it: %v", err)
	m.MustSay(m.OK("worktree", "list"), "alpha\tkept\tnbs/alpha\t"+tree+"\t")
	m.MustSay(m.OK("worktree", "restore", "alpha"), "alpha")
	m.MustSay(m.OK("worktree", "list"), "alpha\trestored\tnbs/alpha\t"+tree+"\t")
	text, err = os.ReadFile(tree + "/secret.env")
	m.Check(err == nil && string(text) == "KEY=1\n", "the copied file after the restore: %s, %v", text, err)
	m.Check(m.Git(tree, "status", "--porcelain") == "", "the restored tree is changed")
}

// dismiss alone leaves the tree, and the next spawn of that agent works in it as it is.
func TestDismissLeavesAWorktree(t *testing.T) {
	m := standIn(t)
	tree := m.withTree()
	m.Write(tree+"/new.txt", "new\n")
	r := m.NBS("dismiss", "alpha")
	m.MustSay(r.String(), "exit code 0", "its worktree stays: ")
	m.Check(!strings.Contains(m.Git(m.World.Project, "worktree", "list", "--porcelain"), "locked"), "it is still locked")
	m.Git(tree, "switch", "-qc", "other")
	m.Refused(5, "git has another worktree at", "spawn", "alpha", "--worktree")
	m.Git(tree, "switch", "-q", "nbs/alpha")
	m.OK("spawn", "alpha", "--worktree", "--trust")
	text, err := os.ReadFile(tree + "/new.txt")
	m.Check(err == nil && string(text) == "new\n", "%s, %v", text, err)
}

// A worktree that was unlocked, moved or deleted has a word in doctor and a way back, and its lock has the agent's handle.
func TestWorktreeThatAPersonHasTouched(t *testing.T) {
	m := standIn(t)
	tree, main := m.withTree(), m.World.Project
	m.Git(main, "worktree", "unlock", tree)
	m.Doctor(e2e.AnyCode).Finds(m.Team, "team.trees", "warning", "is not locked for it")
	m.MustSay(m.NBS("doctor", "--fix").String(), "its worktree is locked")
	m.Doctor(e2e.AnyCode).IsWell(m.Team, "team.trees")

	m.OK("rename", "alpha", "beta")
	m.MustSay(m.Git(main, "worktree", "list", "--porcelain"), "locked nbs-worker: agent beta of "+main)
	m.OK("stop", "beta")

	m.Must(os.Rename(tree, main+"-moved"))
	m.Git(main, "worktree", "repair", main+"-moved")
	m.Doctor(e2e.AnyCode).Finds(m.Team, "team.trees", "warning", "was moved to")
	m.Refused(2, "its worktree", "resume", "beta")
	m.Must(os.Rename(main+"-moved", tree))
	m.Git(tree, "worktree", "repair")
	m.Doctor(e2e.AnyCode).IsWell(m.Team, "team.trees")

	m.Must(os.RemoveAll(tree))
	m.Doctor(e2e.AnyCode).Finds(m.Team, "team.trees", "warning", "nbs-worker worktree restore beta")
	m.Refused(2, "nbs-worker worktree restore beta", "resume", "beta")
	r := m.NBS("worktree", "restore", "beta")
	m.MustSay(r.String(), "exit code 0", "was neither staged nor committed")
	m.OK("resume", "beta")
	m.Check(m.WaitState("beta", "idle").Cwd == tree, "it works elsewhere")
}
