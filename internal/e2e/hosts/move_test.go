package hosts

import (
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// An agent goes to a host and back, in its one conversation, with what is remembered of it.
func TestMoveToAHostAndBack(t *testing.T) {
	f := standIn(t, "build1")
	h := f.hosts["build1"]
	before := f.Remembers("alice")
	f.OK("memory", "add", "alice", "It likes cats")
	f.Refused(4, "--to", "move", "alice")
	f.Refused(2, "build9", "move", "alice", "--to", "build9")
	rig.Equal(f, f.OK("move", "alice", "--to", "build1"), "alice\n", "it prints")
	f.Refused(2, "it was moved to build1", "session", "alice")
	h.WaitState("alice", "idle")
	h.MustRemember("alice", before, "--force")
	f.MustSay(h.OK("memory", "list", "--handle", "alice"), "cats")
	f.MustSay(f.OK("move", "alice@build1", "--to", "here", "--json", "--force"), `"started":true`, before.SessionID)
	h.Check(h.NBS("session", "alice").Code == 2, "alice is still at the host")
	f.WaitState("alice", "idle")
	f.MustRemember("alice", before, "--force")
	const none = "no agent is between two machines"
	f.MustSay(f.OK("doctor", "--only", "team.leaving"), none)
	f.MustSay(h.OK("doctor", "--only", "team.leaving"), none)
}

// With a worktree, the commits and all files go along, and the tree is removed where it was.
func TestMoveWithAWorktree(t *testing.T) {
	f := standIn(t, "build1")
	h := f.hosts["build1"]
	f.Write(f.Dir+"/.gitignore", "*.env\n.nbs\n")
	f.Git(f.Dir, "init", "-q")
	f.Git(f.Dir, "add", "-A")
	f.Git(f.Dir, "commit", "-qm", "first")
	f.OK("spawn", "alice", "--worktree", "--trust", "--prompt", "Remember 42.")
	f.MustAnswer("alice", "OK, I will remember 42.")
	before := f.WaitState("alice", "idle")
	f.Write(before.Cwd+"/a.txt", "committed\n")
	f.Git(before.Cwd, "add", "a.txt")
	f.Git(before.Cwd, "commit", "-qm", "of alice")
	f.Write(before.Cwd+"/b.txt", "in no commit\n")
	f.Write(before.Cwd+"/c.env", "KEY=1\n")
	f.Refused(2, "no git working tree", "move", "alice", "--to", "build1")
	f.MustBe("alice", "idle")
	h.Git(h.Dir, "init", "-q")
	h.Git(h.Dir, "fetch", "-q", f.Dir)
	h.Git(h.Dir, "reset", "-q", "--hard", "FETCH_HEAD")
	for _, way := range [][]string{{"alice", "--to", "build1"}, {"alice@build1", "--to", "here"}} {
		f.OK(append([]string{"move", "--trust", "--force"}, way...)...)
		to, from := h, &host{Team: f.Team}
		if way[2] == "here" {
			to, from = from, to
		}
		there := to.WaitState("alice", "idle")
		f.MustSay(to.Git(there.Cwd, "log", "--oneline"), "of alice")
		f.MustSay(to.Git(there.Cwd, "branch", "--show-current"), "nbs/alice")
		rig.Equal(f, string(to.BytesOf(there.Cwd+"/b.txt"))+string(to.BytesOf(there.Cwd+"/c.env")), "in no commit\nKEY=1\n", "its files")
		f.Check(!strings.Contains(from.Git(from.Dir, "worktree", "list"), "nbs/alice"), "the tree is still where it was")
		f.Check(there.SessionID == before.SessionID, "it has another conversation")
	}
	f.MustRemember("alice", before, "--force")
}
