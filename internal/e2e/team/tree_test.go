package team

import (
	"os"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// repository makes the project a git repository with a commit, which ignores these names.
func (c *crew) repository(ignored ...string) {
	c.Helper()
	c.Write(c.World.Project+"/.gitignore", strings.Join(ignored, "\n")+"\n")
	c.Git(c.World.Project, "init", "-q")
	c.Git(c.World.Project, "add", "-A")
	c.Git(c.World.Project, "commit", "-qm", "first")
}

// An agent of the file gets its own worktree, works there, and is as the file says afterwards.
func TestATreeForEachAgent(t *testing.T) {
	c := standIn(t)
	c.Write(c.World.Project+"/a.txt", "a\n")
	c.repository(".nbs")
	c.has(`version: 1
agents:
  alpha: {worktree: true}
  beta: {worktree: {branch: fix}}
  gamma: {}
`)
	c.is(c.says("up", "--trust"), "alpha:spawn beta:spawn gamma:spawn")
	for handle, branch := range map[string]string{"alpha": "nbs/alpha", "beta": "fix"} {
		s := c.WaitState(handle, "idle")
		c.is(s.Cwd, c.World.Project+".nbs/"+handle)
		c.MustSay(c.Git(s.Cwd, "branch", "--show-current"), branch)
	}
	c.is(c.Session("gamma").Cwd, c.World.Project)
	c.is(c.differs(0), "alpha:equal beta:equal gamma:equal")
	c.is(c.says("down"), "gamma:stop beta:stop alpha:stop")
	c.is(c.says("up"), "alpha:resume beta:resume gamma:resume")
	c.WaitState("alpha", "idle")
	c.is(c.Session("alpha").Cwd, c.World.Project+".nbs/alpha")

	c.Write(c.World.Project+".nbs/beta/new.txt", "new\n")
	c.OK("dismiss", "beta")
	c.is(c.says("up", "beta"), "beta:spawn")
	c.is(e2e.Read(c.T, c.Session("beta").Cwd+"/new.txt"), "new\n")

	c.Write(c.World.Project+".nbs/alpha/.env", "KEY=1\n")
	c.Write(c.World.Project+"/.git/info/exclude", ".env\n")
	c.OK("dismiss", "alpha", "--remove-worktree")
	c.OK("worktree", "restore", "alpha")
	c.is(c.says("up", "alpha"), "alpha:spawn")
	c.is(e2e.Read(c.T, c.Session("alpha").Cwd+"/.env"), "KEY=1\n")
	c.OK("dismiss", "alpha", "--remove-worktree")
	c.Write(c.World.Project+".nbs/alpha/other", "")
	c.Refused(5, "--to DIR", "worktree", "restore", "alpha")
	c.OK("worktree", "restore", "alpha", "--to", "again")
	c.is(e2e.Read(c.T, c.World.Project+"/again/.env"), "KEY=1\n")
}

// A new tree has links to what it shares, and is set up before its agent starts. A setup that fails starts nothing, says
// why, and runs again with the next up.
func TestATreeIsSetUp(t *testing.T) {
	c := standIn(t)
	c.Write(c.World.Project+"/node_modules/x.js", "x\n")
	c.repository(".nbs", "node_modules", "ready")
	tree, wanted := c.World.Project+".nbs/alpha", c.World.Project+".wanted"
	c.has(`version: 1
agents:
  alpha: {worktree: {link: [node_modules], setup: [sh, -c, 'cat "$1" node_modules/x.js >ready', setup, ` + wanted + `]}}
`)
	c.Refused(1, "setup: \"sh\": exit status 1, it said \"cat: ", "up")
	c.is(c.OK("list", "--json"), "[]\n")
	c.Write(wanted, "now\n")
	c.OK("up", "--trust")
	c.WaitState("alpha", "idle")
	text, err := os.ReadFile(tree + "/ready")
	c.Check(err == nil && string(text) == "now\nx\n", "%q, %v", text, err)
	c.is(c.differs(0), "alpha:equal")
}
