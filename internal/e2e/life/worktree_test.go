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

// It is brought back into the worktree, whatever a person begins there, and into its own folder when it has left the worktree,
// or when that is gone.
func TestAgentInAWorktreeIsBroughtBack(t *testing.T) {
	m := eachVersion(t)
	m.inRepository()
	first := m.Remembers("alpha")
	folder := m.enters("alpha", "side")
	m.MustSay(m.OK("session", "alpha"), "Folder:          "+first.Cwd+"; its session has moved to \""+folder+"\"\n")
	m.MustSay(m.OK("list", "--json"), `"works_in":"`+folder+`"`)
	m.MustSay(m.OK("triage"), "alpha\tidle\t0\t")
	m.Doctor(0)
	m.killed("alpha")
	m.OK("recover", "alpha")
	m.backIn("alpha", folder)
	m.MustSay(m.OK("events", "alpha"), ", in the folder that its session has entered: "+folder)

	// What a conversation that a person begins there does not say of it, the one before does.
	before := m.Session("alpha")
	m.TypeLine(before, "/clear")
	cleared := m.WaitMoved(before, "clear")
	m.worksIn("alpha", folder)
	m.turn(cleared, 43)
	m.TypeLine(cleared, "/branch")
	branched := m.WaitMoved(cleared, "branch")
	m.worksIn("alpha", folder)
	m.waitLease(branched.SessionID, cleared.SessionID)
	m.MustBeWritten(branched.SessionID, `"worktree-state"`) // Claude writes it after the messages
	m.killed("alpha")
	m.OK("resume", "alpha")
	m.backIn("alpha", folder)
	m.MustSay(m.Reply("alpha", "What number?"), "43")
	s := m.Session("alpha")
	m.Check(s.SessionID == branched.SessionID && len(s.Drift) == 0, "%+v", s)

	m.Reply("alpha", `[[tool ExitWorktree {"action":"keep"}]]`)
	m.worksIn("alpha", "")
	gone := m.enters("alpha", "gone")
	m.killed("alpha")
	m.Must(os.RemoveAll(gone))
	m.OK("resume", "alpha")
	m.worksIn("alpha", "")

	sub := m.Folder("project/sub")
	m.TypeLine(m.Session("alpha"), "/cd sub")
	m.worksIn("alpha", sub)
	m.killed("alpha")
	m.OK("resume", "alpha")
	m.MustSay(m.Reply("alpha", "What number?"), "43")
}

// backIn waits until the agent works in its worktree again. Claude stays in the recorded folder if git takes two seconds on a
// busy machine; then it is started again, as resume advises.
func (m *team) backIn(handle, folder string) {
	m.Helper()
	for range 3 {
		s := m.WaitSession(handle, "is idle, and no wrong process", func(s e2e.Session) bool {
			return s.State == "idle" && (s.WorksIn == folder && len(s.Drift) == 0 || s.WorksIn == "")
		})
		if s.WorksIn == folder {
			return
		}
		m.MustSay(m.OK("events", handle), ", not in its worktree: "+folder)
		m.OK("resume", handle, "--force")
	}
	m.Fatal("claude never went back to its worktree")
}

// An agent that edits the wrong checkout does harm: it is said at once, and how to mend it.
func TestAgentThatStaysOutOfItsWorktree(t *testing.T) {
	m := real(t)
	m.inRepository()
	slow := m.gitIsSlowWith()
	m.Remembers("alpha")
	folder := m.enters("alpha", "side")
	m.killed("alpha")
	m.Must(os.WriteFile(slow, nil, 0o600))
	warning := `warning: alpha: Claude did not go back to its worktree "` + folder + `": it works in "` + m.World.Project + `"`
	resumed := m.NBS("resume", "alpha")
	m.MustSay(resumed.String(), "exit code 0", warning, "hint: to try again: nbs-worker resume alpha --force\n")
	m.MustSay(m.OK("events", "alpha"), ", not in its worktree: "+folder)
	m.MustSay(m.OK("session", "alpha"), `worktree: recorded "`+folder+`", live "`+m.World.Project+`"`,
		"it works outside of its worktree; end it, and start it again: nbs-worker resume alpha --force")
	m.MustSay(m.OK("triage"), strings.TrimPrefix(warning, "warning: alpha: "))
	m.MustSay(m.OK("resume", "alpha", "--force", "--json"), `"out_of_worktree":"`+folder+`"`)
	m.Must(os.Remove(slow))
	m.MustSay(m.Reply("alpha", "What number?"), "42") // in the wrong folder
	m.OK("resume", "alpha", "--force")
	m.backIn("alpha", folder)
}

// It is seen in the morning if it happened at a restart by the launcher, at night.
func TestRestartedAgentThatStaysOutOfItsWorktree(t *testing.T) {
	m := real(t)
	m.inRepository()
	slow := m.gitIsSlowWith()
	m.Remembers("alpha", "--restart", "on-failure")
	folder := m.enters("alpha", "side")
	m.Must(os.WriteFile(slow, nil, 0o600))
	m.Kill(m.Session("alpha").RecordedPID, syscall.SIGKILL)
	m.WaitSession("alpha", "is out of its worktree", func(s e2e.Session) bool {
		return s.State == "idle" && len(s.Drift) == 1 && s.Drift[0].Field == "worktree"
	})
	m.MustSay(m.OK("triage"), `Claude did not go back to its worktree "`+folder+`"`)
	m.WaitFor("the journal says it", func() (bool, string) {
		said := m.OK("events", "alpha")
		return strings.Contains(said, "restart\talpha") && strings.Contains(said, ", not in its worktree: "+folder), said
	})
}

// gitIsSlowWith has git take three seconds while a file exists, whose path it returns.
func (m *team) gitIsSlowWith() (file string) {
	m.Helper()
	git, err := exec.LookPath("git")
	m.Must(err)
	file = filepath.Join(m.World.Home, "slow-git")
	program := m.Program("git", `[ ! -e `+file+` ] || sleep 3; exec `+git+` "$@"`)
	m.Env = append(m.Env, "PATH="+filepath.Dir(program)+":"+m.Variable("PATH"))
	return file
}
