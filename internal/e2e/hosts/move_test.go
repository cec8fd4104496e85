package hosts

import (
	"os/exec"
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
	f.MustSay(f.NBS("doctor", "--json").Stdout, none)
	f.MustSay(h.NBS("doctor", "--json").Stdout, none)
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

// A move is killed before each system call by which a file comes or goes, at both of its ends in turn. The agent is at one
// machine only, doctor names the command that completes the move, and that command does.
func TestKilledMoveIsCompletedByTheSameCommand(t *testing.T) {
	f := standIn(t, "build1")
	h := &host{Team: f.hosts["build1"].Team}
	here := &host{Team: f.Team}
	before := f.StoppedAlpha()
	f.OK("memory", "add", "alpha", "It likes cats")
	f.OK("send", "alpha", "Remember 43.", "--queue")
	between := 0
	for _, way := range []struct {
		from, to *host
		words    []string
	}{{here, h, []string{"move", "alpha", "--to", "build1"}}, {h, here, []string{"move", "alpha@build1", "--to", "here"}}} {
		points := rig.EachKill(f, []string{"renameat,renameat2,unlinkat"}, func() (*exec.Cmd, func(bool)) {
			if way.to.NBS("session", "alpha").Code == 0 { // back from the last round
				back := []string{"move", "alpha@build1", "--to", "here"}
				if way.to == here {
					back = []string{"move", "alpha", "--to", "build1"}
				}
				f.OK(back...)
			}
			return f.Command(way.words), func(bool) {
				atFrom, atTo := way.from.NBS("session", "alpha"), way.to.NBS("session", "alpha")
				leaves := atFrom.Code != 0 || strings.Contains(atFrom.Stdout, "being moved")
				f.Check(leaves || atTo.Code != 0, "it is at both machines: %+v %+v", atFrom, atTo)
				if leaves && atTo.Code != 0 {
					between++
					f.MustSay(way.from.NBS("doctor", "--json").Stdout, "nbs-worker "+strings.Join(way.words, " "))
					f.Check(way.from.NBS("resume", "alpha").Code != 0, "it was started between two machines")
				}
				f.OK(way.words...)
				still := way.from.NBS("session", "alpha")
				f.Check(still.Code == 2, "it is still where it was: %+v", still)
				f.Check(way.to.Session("alpha").SessionID == before.SessionID, "it has another conversation")
				f.MustSay(way.to.OK("memory", "list", "--handle", "alpha"), "cats")
				f.Check(len(way.to.Outbox()) == 1, "its outbox: %+v", way.to.Outbox())
			}
		})
		f.Check(points >= 5, "it can be killed at %d points only", points)
	}
	f.Check(between > 5 || !rig.EveryKill(), "it was between two machines %d times only", between)
	f.MustRemember("alpha", before)
}
