package life

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// waitSaid waits until a tmux session of the team's own server shows the words.
func (m *team) waitSaid(session, words string) {
	m.Helper()
	m.waitSaidOn("default", session, words)
}

// waitSaidOn is waitSaid for another server.
func (m *team) waitSaidOn(socket, session, words string) {
	m.Helper()
	m.WaitFor(words, func() (bool, string) {
		look := exec.Command("tmux", "-u", "-L", socket, "capture-pane", "-p", "-t", "="+session+":")
		look.Env = m.Env
		out, _ := look.CombinedOutput()
		screen := strings.ReplaceAll(string(out), "\u00a0", " ")
		return strings.Contains(screen, words), screen
	})
}

// told starts a claude by hand that was told a number.
func (m *team) told(name, number string, args ...string) (pid int, id string) {
	m.Helper()
	pid = m.ByHand(name, append(args, "Remember "+number+".")...)
	m.waitSaid(name, "● OK, I will remember "+number+".")
	id = m.WaitIdle(m.World.ConfigDir, pid).SessionID
	m.MustBeWritten(id, "OK, I will remember "+number)
	return pid, id
}

var handArgs = []string{"--model", "sonnet", "--permission-mode", "acceptEdits"}

// It may have gone into a worktree before, to which it comes back.
func TestAdoptedAgentIsStoppedAndResumed(t *testing.T) {
	m := eachVersion(t)
	m.inRepository()
	id := string(agent.NewSessionID())
	pid, _ := m.told("hand", "42", append([]string{"--session-id", id}, handArgs...)...)
	m.TypeLine(e2e.Session{TmuxSession: "hand"}, `[[tool EnterWorktree {"name":"side"}]]`)
	folder := m.World.Project + "/.claude/worktrees/side"
	m.WaitFor("it is in the worktree", func() (bool, string) {
		cwd, _ := os.Readlink(e2e.ProcFile(pid, "cwd"))
		return cwd == folder && m.Entry().Status == "idle", m.Tmux("capture-pane", "-p", "-t", "=hand:")
	})
	m.OK("adopt", "alpha", pidFlag(pid))
	m.worksIn("alpha", folder)
	s := m.Session("alpha")
	if s.SessionID != id || s.State != "idle" || s.RecordedPID != pid || s.PID == 0 || !s.TmuxAlive || s.TmuxSession != "hand" ||
		s.Model != "sonnet" || s.PermissionMode != "acceptEdits" || len(s.Drift) != 0 {
		m.Errorf("%+v", s)
	}
	m.MustSay("\n"+m.OK("list"), "\nalpha\tidle\t-\trunning\tsonnet\t")
	m.MustBeInTheJournal("adopt", "alpha", id)
	m.Refused(5, fmt.Sprintf("the agent runs already: idle, pid %d", pid), "resume", "alpha")
	m.Tmux("copy-mode", "-t", "=hand:")
	kept := m.Send(0, "held", "alpha", "later", "--queue")
	m.Check(strings.Contains(kept.Reason, "has no launcher yet: the next send types it"), "%+v", kept)
	m.OK("outbox", "drop", "alpha", kept.Outbox)
	m.OK("stop", "alpha")
	m.Check(e2e.Dead(pid), "it was not ended")
	m.MustBe("alpha", "stopped")
	m.MustRemember("alpha", s)
	m.backIn("alpha", folder)
	s = m.Session("alpha")
	m.Check(s.TmuxSession == "nbs-alpha-live" && s.TmuxAlive && !e2e.Dead(m.Launcher("alpha")), "%+v", s)
}

// The id on its command line is another one, and there may be none there at all.
func TestAdoptedAfterClearComesBackToWhatIsOnTheScreen(t *testing.T) {
	m := standIn(t)
	m.KeepServer()
	pid, first := m.told("hand", "7", handArgs...)
	second := m.clearsByHand(pid, first)
	m.OK("adopt", "alpha", "--tmux", "hand")
	before := m.Session("alpha")
	m.Check(before.SessionID == second && before.SessionID != first, "%+v, first %s", before, first)
	m.Kill(pid, syscall.SIGKILL)
	m.WaitDead(pid)
	s := m.Session("alpha")
	m.Check(s.State == "crashed" && strings.Contains(s.Cause, "no launcher saw how"), "%+v", s)
	m.MustRemember("alpha", before)
}

// clearsByHand has a claude that was started by hand begin another conversation and remember 42 in it.
func (m *team) clearsByHand(pid int, first string) (second string) {
	m.Helper()
	hand := e2e.Session{TmuxSession: "hand"}
	m.TypeLine(hand, "/clear")
	m.WaitFor("the conversation is another one", func() (bool, string) {
		now := m.WaitIdle(m.World.ConfigDir, pid).SessionID
		return now != first, now
	})
	m.TypeLine(hand, "Remember 42.")
	m.waitSaid("hand", "● OK, I will remember 42.")
	return m.WaitIdle(m.World.ConfigDir, pid).SessionID
}

// A /clear after the adoption is followed by its end at our hands.
func TestAdoptedAndClearedThenForced(t *testing.T) {
	m := standIn(t)
	m.KeepServer()
	pid, first := m.told("hand", "7", handArgs...)
	m.OK("adopt", "alpha", pidFlag(pid))
	second := m.clearsByHand(pid, first)
	m.OK("resume", "alpha", "--force", "--prompt", "What number?")
	m.MustAnswer("alpha", "42")
	s := m.Session("alpha")
	m.Check(s.SessionID == second && len(s.PreviousSessions) == 1 && s.PreviousSessions[0].SessionID == first && e2e.Dead(pid), "%+v", s)
}

// In a shell, in a server of its own, without an id: as people start it.
func TestAdoptedFromAnotherServer(t *testing.T) {
	m := standIn(t)
	pid := m.ByHandOn("work", "desk", nil, append(handArgs, "--verbose", "--append-system-prompt", "Be brief.", "--", "Remember 42.")...)
	m.waitSaidOn("work", "desk", "● OK, I will remember 42.")
	live := m.WaitIdle(m.World.ConfigDir, pid)
	m.Refused(2, `there is no tmux session "desk"`, "adopt", "alpha", "--tmux", "desk")
	m.OK("adopt", "alpha", "--tmux", "desk", "--tmux-socket", "work")
	s := m.Session("alpha")
	m.Check(s.SessionID == live.SessionID && s.TmuxAlive && s.TmuxSession == "desk", "%+v", s)
	args := m.Record("alpha")["claude_args"]
	m.Check(fmt.Sprint(args) == "[--verbose --append-system-prompt Be brief.]", "arguments: %v", args)
	m.OK("resume", "alpha", "--force", "--prompt", "What number?", "--tmux-socket", "default")
	m.MustAnswer("alpha", "42")
	now := m.Session("alpha")
	m.Check(now.SessionID == live.SessionID && e2e.Dead(pid), "%+v", now)
}

// Two people's agents in one folder, with one configuration or with two, are kept apart by
// their processes.
func TestAdoptedAgentsInOneFolderAreNotMixedUp(t *testing.T) {
	m := standIn(t)
	other := m.Folder("config2")
	rig.Config(m, other, rig.ConfigOptions{Trusted: []string{m.World.Project}})
	all := map[string]struct{ number, config string }{"ann": {"11", m.World.ConfigDir}, "bob": {"22", m.World.ConfigDir}, "cat": {"33", other}}
	ids := map[string]string{}
	for handle, c := range all {
		pid := m.ByHandOn("default", handle+"-desk", []string{"CLAUDE_CONFIG_DIR=" + c.config}, append(handArgs, "Remember "+c.number+".")...)
		m.waitSaid(handle+"-desk", "● OK, I will remember "+c.number+".")
		ids[handle] = m.WaitIdle(c.config, pid).SessionID
		m.OK("adopt", handle, pidFlag(pid))
	}
	for handle, c := range all {
		m.OK("resume", handle, "--force", "--prompt", "What number?")
		m.MustAnswer(handle, c.number)
		now := m.Session(handle).SessionID
		m.Check(now == ids[handle], "%s is in %s; want %s", handle, now, ids[handle])
	}
}
