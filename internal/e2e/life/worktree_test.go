package life

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
)

// A session moves to other folders by itself: its agent enters a worktree by a tool of Claude's, which a resume
// goes back to, or a person gives /cd.

// enters has the agent enter a worktree, and returns its folder.
func (m *team) enters(handle, name string) string {
	m.Helper()
	folder := filepath.Join(m.Session(handle).Cwd, ".claude", "worktrees", name)
	m.MustSay(m.Reply(handle, `[[tool EnterWorktree {"name":"`+name+`"}]]`), folder)
	m.worksIn(handle, folder)
	return folder
}

// worksIn waits until the agent is idle in a folder that is not the recorded one, and no wrong one.
func (m *team) worksIn(handle, folder string) {
	m.Helper()
	s := m.WaitSession(handle, "works in "+folder, func(s e2e.Session) bool {
		return s.State == "idle" && s.WorksIn == folder && len(s.Drift) == 0
	})
	m.Check(s.Cwd == m.World.Project, "the recorded folder has changed: %+v", s)
}

// inRepository makes the project a repository with a commit.
func (m *team) inRepository() {
	m.Helper()
	git := exec.Command("sh", "-c", "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x")
	git.Dir, git.Env = m.World.Project, m.Env
	m.MustRun(git)
}

func (m *team) killed(handle string) {
	m.Helper()
	m.Kill(m.Session(handle).RecordedPID, syscall.SIGKILL)
	m.WaitState(handle, "crashed")
}

func TestAgentInAWorktreeIsBroughtBack(t *testing.T) {
	m := eachVersion(t)
	m.inRepository()
	first := m.Remembers("alpha")
	folder := m.enters("alpha", "side")
	m.MustSay(m.OK("session", "alpha"), "Folder:          "+first.Cwd+"; its session has moved to \""+folder+"\"\n")
	m.MustSay(m.OK("list", "--json"), `"works_in":"`+folder+`"`)
	m.MustSay(m.OK("triage"), "alpha\tidle\t0\t")
	m.Doctor(0)
	wentBack := 0 // on a machine at load 30, claude stays in the recorded folder now and then
	for _, back := range [][]string{{"resume", "alpha"}, {"resume", "--down"}, {"recover", "alpha"}} {
		m.killed("alpha")
		r := m.NBS(back...)
		m.Check(r.Code == 0, "%q: %s", back, r)
		s := m.WaitSession("alpha", "is idle, and no wrong process", func(s e2e.Session) bool {
			return s.State == "idle" && len(s.Drift) == 0 && (s.WorksIn == folder || s.WorksIn == "")
		})
		if s.WorksIn == folder {
			wentBack++
		}
	}
	m.Check(wentBack > 0, "claude never went back to its worktree")
	m.MustSay(m.OK("events", "alpha"), ", in the folder that its session has entered: "+folder)
	m.MustSay(m.Reply("alpha", "What number?"), "42")

	m.Reply("alpha", `[[tool ExitWorktree {"action":"keep"}]]`)
	m.worksIn("alpha", "")
	m.killed("alpha")
	m.OK("resume", "alpha")
	m.worksIn("alpha", "")
	m.MustSay(m.Reply("alpha", "What number?"), "42")
	m.Check(m.Session("alpha").SessionID == first.SessionID, "it is in another conversation")
}

func TestWorktreeThatIsGone(t *testing.T) {
	m := eachVersion(t)
	m.inRepository()
	m.Remembers("alpha")
	folder := m.enters("alpha", "side")
	m.killed("alpha")
	m.Must(os.RemoveAll(folder))
	m.OK("resume", "alpha")
	m.worksIn("alpha", "")
	m.MustSay(m.Reply("alpha", "What number?"), "42")
}

// What a conversation that a person begins in a worktree does not say of it, the one before does.
func TestClearAndBranchInAWorktree(t *testing.T) {
	m := eachVersion(t)
	m.inRepository()
	before := m.Remembers("alpha")
	folder := m.enters("alpha", "side")
	m.TypeLine(before, "/clear")
	cleared := m.WaitMoved(before, "clear")
	m.worksIn("alpha", folder)
	m.turn(cleared, 43)
	m.TypeLine(cleared, "/branch")
	branched := m.WaitMoved(cleared, "branch")
	m.worksIn("alpha", folder)
	m.killed("alpha")
	m.OK("resume", "alpha")
	m.MustSay(m.Reply("alpha", "What number?"), "43")
	s := m.Session("alpha")
	m.Check(s.SessionID == branched.SessionID && len(s.Drift) == 0, "%+v", s)
}

func TestChangedFolderIsNoDrift(t *testing.T) {
	m := eachVersion(t)
	s := m.Remembers("alpha")
	sub := m.Folder("project/sub")
	m.TypeLine(s, "/cd sub")
	m.worksIn("alpha", sub)
	m.killed("alpha")
	m.OK("resume", "alpha")
	m.MustSay(m.Reply("alpha", "What number?"), "42")
}

// A claude in a folder of which the transcript says nothing is still a wrong one. 2.1.197 does not start there.
func TestFolderThatWasNotEnteredIsDrift(t *testing.T) {
	m := real(t)
	s := m.Remembers("alpha")
	m.OK("stop", "alpha")
	moved := m.Script(`cd "` + m.OtherProject() + `" && exec "` + m.Variable("NBS_CLAUDE") + `" "$@"`)
	r := m.NBSWith([]string{"CLAUDE_CODE_SANDBOXED=1", "NBS_CLAUDE=" + moved}, "resume", "alpha")
	if r.Code != 1 || !strings.Contains(r.Stderr, "the running claude differs from the record: cwd is ") {
		t.Error(r)
	}
	m.OK("resume", "alpha")
	m.Check(m.Session("alpha").SessionID == s.SessionID, "it is in another conversation")
}

func TestAdoptInAWorktree(t *testing.T) {
	m := eachVersion(t)
	m.inRepository()
	pid, _ := m.told("hand", "42", handArgs...)
	m.Tmux("send-keys", "-t", "=hand:", "-l", `[[tool EnterWorktree {"name":"side"}]]`)
	m.Tmux("send-keys", "-t", "=hand:", "Enter")
	folder := m.World.Project + "/.claude/worktrees/side"
	m.WaitFor("it is in the worktree", func() (bool, string) {
		screen := m.Tmux("capture-pane", "-p", "-t", "=hand:")
		cwd, _ := os.Readlink(filepath.Join("/proc", pidFlag(pid)[len("--pid="):], "cwd"))
		return cwd == folder && m.Entry().Status == "idle", screen
	})
	m.OK("adopt", "alpha", pidFlag(pid))
	m.worksIn("alpha", folder)
	m.OK("resume", "alpha", "--force")
	m.worksIn("alpha", folder)
	m.MustSay(m.Reply("alpha", "What number?"), "42")
}
