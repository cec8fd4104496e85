package hosts

import (
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// eachVersion is a fleet on the Claude Code of the run.
func eachVersion(t *testing.T, names ...string) *fleet {
	t.Helper()
	return newFleet(e2e.EachVersion(t), rig.ClaudeBinary(t, rig.Version()), names...)
}

// mustKnow checks that an agent at a machine is idle, in its conversation, and has not forgotten it.
func (h *host) mustKnow(handle string, before e2e.Session) {
	h.Helper()
	is := h.WaitState(handle, "idle")
	h.Check(is.SessionID == before.SessionID && is.Model == before.Model && is.PermissionMode == before.PermissionMode, "before %+v\nafter %+v", before, is)
	rig.Equal(h, h.Reply(handle, "What number?"), "42", "%s says", handle)
}

// Claude Code goes on in the same conversation in another folder of another machine: there, from there to a third one, and
// back.
func TestMoveOfARealClaude(t *testing.T) {
	f := eachVersion(t, "build1", "build2")
	before := f.Remembers("alice")
	at := map[string]*host{"here": {Team: f.Team}, "build1": f.hosts["build1"], "build2": f.hosts["build2"]}
	for _, way := range [][]string{{"alice", "build1"}, {"alice@build1", "build2"}, {"alice@build2", "here"}} {
		f.OK("move", way[0], "--to", way[1], "--trust")
		at[way[1]].mustKnow("alice", before)
		for name, h := range at {
			h.Check(name == way[1] || h.NBS("session", "alice").Code == 2, "alice is at %s, too", name)
		}
	}
	for _, h := range at {
		h.MustSay(h.NBS("doctor", "--json").Stdout, "no agent is between two machines")
	}
}

// An agent whose machine is lost comes back with its worktree, and without what it has done there.
func TestAnAgentComesBackFromALostHost(t *testing.T) {
	f := standIn(t, "build1")
	h := f.hosts["build1"]
	f.Write(f.Dir+"/.gitignore", ".nbs\n")
	f.Git(f.Dir, "init", "-q")
	f.Git(f.Dir, "add", "-A")
	f.Git(f.Dir, "commit", "-qm", "first")
	f.OK("spawn", "alice", "--worktree", "--trust", "--prompt", "Remember 42.")
	f.MustAnswer("alice", "OK, I will remember 42.")
	before := f.WaitState("alice", "idle")
	f.Write(before.Cwd+"/a.txt", "in no commit\n")
	h.Git(h.Dir, "init", "-q")
	h.Git(h.Dir, "fetch", "-q", f.Dir)
	h.Git(h.Dir, "reset", "-q", "--hard", "FETCH_HEAD")
	f.OK("move", "alice", "--to", "build1", "--trust")
	f.Check(!strings.Contains(f.Git(f.Dir, "worktree", "list"), "nbs/alice"), "the tree is still where it was")
	h.OK("stop", "alice") // what runs there is seen here in this simulation
	h.machine.Network.Down()

	f.Refused(4, "nbs-worker move alice --cancel --lost --yes", "move", "alice", "--cancel", "--lost")
	f.MustSay(f.NBS("move", "alice", "--cancel", "--lost", "--yes").Stderr, "left for build1", "two agents go on")
	is := f.Session("alice")
	f.Check(is.Cwd == before.Cwd && is.State == "stopped", "before %+v\nafter %+v", before, is)
	rig.Equal(f, string(f.BytesOf(before.Cwd+"/a.txt")), "in no commit\n", "its file")
	rig.Equal(f, strings.TrimSpace(f.Git(before.Cwd, "branch", "--show-current")), "nbs/alice", "its branch")
	f.MustRemember("alice", before)
	f.MustSay(f.NBS("doctor", "--json").Stdout, "no agent is between two machines")
}
