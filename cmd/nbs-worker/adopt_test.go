package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

// Claudes that a person started without nbs-worker.

// byHand starts claude in a tmux session of its own, in the folder where commands are run,
// and returns its pid.
func (m *team) byHand(session string, args ...string) int {
	m.Helper()
	return m.byHandOn("default", session, nil, args...)
}

// byHandOn is byHand in another tmux server and with more variables.
func (m *team) byHandOn(socket, session string, env []string, args ...string) int {
	m.Helper()
	words := []string{"-u", "-L", socket, "new-session", "-d", "-s", session, "-x", "120", "-y", "40", "-P", "-F", "#{pane_pid}", "-c", m.dir}
	for _, entry := range append(append([]string{}, m.env...), env...) {
		words = append(words, "-e", entry)
	}
	cmd := exec.Command("tmux", append(append(words, "--", m.variable("NBS_CLAUDE")), args...)...)
	cmd.Env = m.env
	pid, err := strconv.Atoi(strings.TrimSpace(m.run(cmd)))
	m.must(err)
	if socket != "default" {
		m.Cleanup(func() {
			end := exec.Command("tmux", "-L", socket, "kill-server")
			end.Env = m.env
			_ = end.Run() // it may have ended with its last session
		})
	}
	return pid
}

// registered is what Claude's registry has of a process.
type registered struct {
	SessionID string `json:"sessionId"`
	Status    string `json:"status"`
}

// waitIdle waits until Claude's registry has a process as idle.
func (m *team) waitIdle(configDir string, pid int) registered {
	m.Helper()
	var live registered
	m.waitFor("claude is idle", func() (bool, string) {
		text, _ := os.ReadFile(filepath.Join(configDir, "sessions", fmt.Sprint(pid, ".json")))
		_ = json.Unmarshal(text, &live)
		return live.Status == "idle", string(text)
	})
	return live
}

// waitSaid waits until a tmux session of the team's own server shows the words.
func (m *team) waitSaid(session, words string) {
	m.Helper()
	m.waitSaidOn("default", session, words)
}

// waitSaidOn is waitSaid for another server.
func (m *team) waitSaidOn(socket, session, words string) {
	m.Helper()
	m.waitFor(words, func() (bool, string) {
		look := exec.Command("tmux", "-u", "-L", socket, "capture-pane", "-p", "-t", "="+session+":")
		look.Env = m.env
		out, _ := look.CombinedOutput()
		screen := strings.ReplaceAll(string(out), "\u00a0", " ")
		return strings.Contains(screen, words), screen
	})
}

// told starts a claude by hand that was told a number.
func (m *team) told(name, number string, args ...string) (pid int, id string) {
	m.Helper()
	pid = m.byHand(name, append(args, "Remember "+number+".")...)
	m.waitSaid(name, "● OK, I will remember "+number+".")
	id = m.waitIdle(m.world.ConfigDir, pid).SessionID
	m.mustBeWritten(id, "OK, I will remember "+number)
	return pid, id
}

var handArgs = []string{"--model", "sonnet", "--permission-mode", "acceptEdits"}

func TestAdoptedAgentIsStoppedAndResumed(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		id := string(agent.NewSessionID())
		pid, _ := m.told("hand", "42", append([]string{"--session-id", id}, handArgs...)...)
		m.ok("adopt", "alpha", pidFlag(pid))
		s := m.session("alpha")
		if s.SessionID != id || s.State != "idle" || s.RecordedPID != pid || s.PID == 0 || !s.TmuxAlive || s.TmuxSession != "hand" ||
			s.Model != "sonnet" || s.PermissionMode != "acceptEdits" || len(s.Drift) != 0 {
			m.Errorf("%+v", s)
		}
		m.mustSay("\n"+m.ok("list"), "\nalpha\tidle\t-\trunning\tsonnet\t")
		m.mustBeInTheJournal("adopt", "alpha", id)
		m.refused(5, fmt.Sprintf("the agent runs already: idle, pid %d", pid), "resume", "alpha")
		m.ok("stop", "alpha")
		m.check(dead(pid), "it was not ended")
		m.mustBe("alpha", "stopped")
		m.mustRemember("alpha", s)
		s = m.session("alpha")
		m.check(s.TmuxSession == "nbs-alpha-live" && s.TmuxAlive && !dead(m.launcher("alpha")), "%+v", s)
	})
}

// The id on its command line is another one, and there may be none there at all.
func TestAdoptedAfterClearComesBackToWhatIsOnTheScreen(t *testing.T) {
	m := real(t)
	m.keepServer()
	pid, first := m.told("hand", "7", handArgs...)
	second := m.clearsByHand(pid, first)
	m.ok("adopt", "alpha", "--tmux", "hand")
	before := m.session("alpha")
	m.check(before.SessionID == second && before.SessionID != first, "%+v, first %s", before, first)
	m.kill(pid, syscall.SIGKILL)
	m.waitDead(pid)
	s := m.session("alpha")
	m.check(s.State == "crashed" && strings.Contains(s.Cause, "no launcher saw how"), "%+v", s)
	m.mustRemember("alpha", before)
}

// clearsByHand has a claude that was started by hand begin another conversation and remember 42 in it.
func (m *team) clearsByHand(pid int, first string) (second string) {
	m.Helper()
	hand := session{TmuxSession: "hand"}
	m.typeLine(hand, "/clear")
	m.waitFor("the conversation is another one", func() (bool, string) {
		now := m.waitIdle(m.world.ConfigDir, pid).SessionID
		return now != first, now
	})
	m.typeLine(hand, "Remember 42.")
	m.waitSaid("hand", "● OK, I will remember 42.")
	return m.waitIdle(m.world.ConfigDir, pid).SessionID
}

// A /clear after the adoption is followed by its end at our hands.
func TestAdoptedAndClearedThenForced(t *testing.T) {
	m := real(t)
	m.keepServer()
	pid, first := m.told("hand", "7", handArgs...)
	m.ok("adopt", "alpha", pidFlag(pid))
	second := m.clearsByHand(pid, first)
	m.ok("resume", "alpha", "--force", "--prompt", "What number?")
	m.mustAnswer("alpha", "42")
	s := m.session("alpha")
	m.check(s.SessionID == second && len(s.PreviousSessions) == 1 && s.PreviousSessions[0].SessionID == first && dead(pid), "%+v", s)
}

// In a shell, in a server of its own, without an id: as people start it.
func TestAdoptedFromAnotherServer(t *testing.T) {
	m := real(t)
	pid := m.byHandOn("work", "desk", nil, append(handArgs, "--verbose", "--append-system-prompt", "Be brief.", "--", "Remember 42.")...)
	m.waitSaidOn("work", "desk", "● OK, I will remember 42.")
	live := m.waitIdle(m.world.ConfigDir, pid)
	m.refused(2, `there is no tmux session "desk"`, "adopt", "alpha", "--tmux", "desk")
	m.ok("adopt", "alpha", "--tmux", "desk", "--tmux-socket", "work")
	s := m.session("alpha")
	m.check(s.SessionID == live.SessionID && s.TmuxAlive && s.TmuxSession == "desk", "%+v", s)
	args := m.record("alpha")["claude_args"]
	m.check(fmt.Sprint(args) == "[--verbose --append-system-prompt Be brief.]", "arguments: %v", args)
	m.ok("resume", "alpha", "--force", "--prompt", "What number?", "--tmux-socket", "default")
	m.mustAnswer("alpha", "42")
	now := m.session("alpha")
	m.check(now.SessionID == live.SessionID && dead(pid), "%+v", now)
}

// Two people's agents in one folder, with one configuration or with two, are kept apart by
// their processes.
func TestAdoptedAgentsInOneFolderAreNotMixedUp(t *testing.T) {
	m := standIn(t)
	other := m.folder("config2")
	rig.Config(m, other, rig.ConfigOptions{Trusted: []string{m.world.Project}})
	all := map[string]struct{ number, config string }{"ann": {"11", m.world.ConfigDir}, "bob": {"22", m.world.ConfigDir}, "cat": {"33", other}}
	ids := map[string]string{}
	for handle, c := range all {
		pid := m.byHandOn("default", handle+"-desk", []string{"CLAUDE_CONFIG_DIR=" + c.config}, append(handArgs, "Remember "+c.number+".")...)
		m.waitSaid(handle+"-desk", "● OK, I will remember "+c.number+".")
		ids[handle] = m.waitIdle(c.config, pid).SessionID
		m.ok("adopt", handle, pidFlag(pid))
	}
	for handle, c := range all {
		m.ok("resume", handle, "--force", "--prompt", "What number?")
		m.mustAnswer(handle, c.number)
		now := m.session(handle).SessionID
		m.check(now == ids[handle], "%s is in %s; want %s", handle, now, ids[handle])
	}
}
