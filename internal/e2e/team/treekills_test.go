package team

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// What makes and removes the worktree of an agent is killed before each system call by which a file comes or goes, and
// run again. internal/team/worktree kills git within it too.

// withATree is a team of one agent with a worktree, into which an ignored file is copied.
func withATree(t *testing.T) (c *crew, tree string) {
	c = standIn(t)
	c.KeepServer()
	c.Write(c.World.Project+"/a.txt", "a\n")
	c.Write(c.World.Project+"/.worktreeinclude", "keys/*.env\n")
	c.repository(".nbs", "*.env", "*.bin")
	c.Must(os.Mkdir(c.World.Project+"/keys", 0o700))
	c.Write(c.World.Project+"/keys/secret.env", "KEY=1\n")
	c.has("agents: {alpha: {worktree: true}}\n")
	return c, c.World.Project + ".nbs/alpha"
}

func TestKilledUpWithATreeIsRunAgain(t *testing.T) {
	c, tree := withATree(t)
	points := rig.EachKill(c, []string{"renameat", "mkdirat"}, func() (*exec.Cmd, func(bool)) {
		return c.Command([]string{"up", "--trust"}), func(bool) {
			ids := c.ids()
			c.OK("up", "--trust")
			c.is(c.differs(0), "alpha:equal")
			s := c.Session("alpha")
			c.Check(s.Running && s.Cwd == tree && (ids["alpha"] == "" || ids["alpha"] == s.SessionID), "it was in %q: %+v", ids["alpha"], s)
			c.is(e2e.Read(c.T, tree+"/keys/secret.env"), "KEY=1\n")
			c.is(c.Git(tree, "status", "--porcelain")+c.Git(tree, "branch", "--show-current"), "nbs/alpha\n")
			c.OK("dismiss", "alpha")
			c.Git(c.World.Project, "worktree", "remove", "--force", tree)
			c.Git(c.World.Project, "branch", "-D", "nbs/alpha")
		}
	})
	c.Check(points >= 5, "it can be killed at %d points only", points)
}

func TestKilledDismissWithATreeIsRunAgain(t *testing.T) {
	c, tree := withATree(t)
	c.OK("up", "--trust")
	c.OK("stop", "alpha")
	files := map[string]string{"a.txt": "a\n", "keys/secret.env": "KEY=1\n", "precious.bin": "\x00\x01precious"}
	c.Write(tree+"/precious.bin", files["precious.bin"])
	places := []string{c.World.Project, filepath.Dir(tree), filepath.Dir(c.InState("x"))}
	saved := c.Folder("saved")
	for _, place := range places {
		c.runs("cp", "-a", place, saved)
	}
	safe := func() {
		c.Helper()
		at := []string{tree}
		aside, err := filepath.Glob(tree + ".removing-*/alpha")
		c.Must(err)
		refs := strings.Fields(c.Git(c.World.Project, "for-each-ref", "--format=%(refname)", "refs/nbs/kept/"))
		for name, text := range files {
			found := false
			for _, place := range append(aside, at...) {
				here, err := os.ReadFile(filepath.Join(place, name))
				found = found || err == nil && string(here) == text
			}
			for _, ref := range refs {
				kept, err := exec.Command("git", "-C", c.World.Project, "cat-file", "blob", ref+":"+name).Output()
				found = found || err == nil && string(kept) == text
			}
			c.Check(found, "%s is lost", name)
		}
	}
	points := rig.EachKill(c, steps, func() (*exec.Cmd, func(bool)) {
		for _, place := range places {
			c.runs("rm", "-rf", place)
			c.runs("cp", "-a", filepath.Join(saved, filepath.Base(place)), place)
		}
		return c.Command([]string{"dismiss", "alpha", "--remove-worktree"}), func(killed bool) {
			safe()
			if _, err := os.Stat(c.RecordPath("alpha")); err == nil {
				c.OK("dismiss", "alpha", "--remove-worktree")
				safe()
			}
			_, err := os.Stat(tree)
			c.Check(os.IsNotExist(err), "its worktree is there: %v", err)
			if killed {
				return
			}
			c.OK("worktree", "restore", "alpha")
			for name, text := range files {
				c.is(e2e.Read(c.T, filepath.Join(tree, name)), text)
			}
		}
	})
	c.Check(points >= 5, "it can be killed at %d points only", points)
}

// runs runs a program of the system.
func (c *crew) runs(program string, args ...string) {
	c.Helper()
	out, err := exec.Command(program, args...).CombinedOutput()
	c.Check(err == nil, "%s: %v: %s", program, err, out)
}
