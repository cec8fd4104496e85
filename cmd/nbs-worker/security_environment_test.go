package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// The environment of a caller reaches the claude of that call and nobody else: a tmux
// server lives on, and everybody's later panes would inherit what it got.

func TestEnvironmentOfOneCallerDoesNotReachTheNext(t *testing.T) {
	m := standIn(t)
	seen := m.spyOnTmux()
	common := m.env
	m.env = slices.Concat(common, []string{"CALLER=canary-one", "SERVICE_TOKEN=canary-one", "ONLY_ONE=canary-one"})
	m.ok("spawn", "one", "--env", "RECORDED=/canary-one.so")
	m.env = slices.Concat(common, []string{"CALLER=canary-two", "SERVICE_TOKEN=canary-two"})
	m.ok("spawn", "two")
	m.ok("resume", "one", "--force")
	one, two := m.environ(m.session("one").RecordedPID), m.environ(m.session("two").RecordedPID)
	if one["SERVICE_TOKEN"] != "canary-two" || two["SERVICE_TOKEN"] != "canary-two" || one["CALLER"] != "canary-two" {
		t.Errorf("the agents have %q, %q, %q", one["SERVICE_TOKEN"], two["SERVICE_TOKEN"], one["CALLER"])
	}
	for name, value := range two {
		m.check(!strings.Contains(value, "canary-one"), "the second agent got the first caller's %s", name)
	}
	_, left := one["ONLY_ONE"]
	m.check(!left && one["RECORDED"] == "/canary-one.so", "after a resume by the second caller: %q", one)
	m.env = common
	m.mustNotKnow("canary-", seen())
}

// mustNotKnow checks that a text is not with tmux, its panes to come, or a launcher.
func (m *team) mustNotKnow(canary, ofTmux string) {
	m.Helper()
	m.check(!strings.Contains(ofTmux, canary), "a tmux client got %s", canary)
	for _, args := range [][]string{
		{"show-environment", "-g"}, {"show-environment", "-t", "=nbs-one-live"}, {"show-environment", "-t", "=nbs-two-live"},
		{"show-options", "-g"}, {"show-options", "-s"}, {"show-options", "-t", "=nbs-one-live:"}, {"show-buffer"},
		{"list-panes", "-a", "-F", "#{pane_start_command} #{pane_title} #{session_path} #{@nbs_invocation}"},
	} {
		out := m.tmux(args...)
		m.check(!strings.Contains(out, canary), "tmux %q tells: %s", args, out)
	}
	out := filepath.Join(m.world.Root, "env-of-a-new-window")
	m.tmux("new-window", "-t", "=nbs-one-live:", "env >"+out+".part; mv "+out+".part "+out+"; cat")
	m.waitFor("the new window has said its environment", func() (bool, string) { return exists(out), "" })
	text, err := os.ReadFile(out)
	m.check(err == nil && !strings.Contains(string(text), canary), "a new window has %s, %v", text, err)
	for _, pid := range []int{m.serverPID(), m.launcher("one"), m.launcher("two")} {
		for _, file := range []string{"cmdline", "environ"} {
			if text, err := os.ReadFile(procFile(pid, file)); err != nil || strings.Contains(string(text), canary) {
				m.Errorf("%s: %q, %v", procFile(pid, file), text, err)
			}
		}
	}
}

// Where sockets are made may be everybody's, as /tmp is; the folder in it may not.
func TestTmuxFolderOfAnotherUserIsRefused(t *testing.T) {
	m := standIn(t)
	rig.NeedsRoot(t)
	squatted := filepath.Join(m.world.TmuxDir, "tmux-0")
	visitors := m.squat(filepath.Join(squatted, "default"))
	for _, args := range [][]string{{"spawn", "alpha"}, {"spawn", "beta", "--no-wait"}} {
		r := m.nbs(args...)
		m.check(r.code == 1 && strings.Contains(r.stderr, "unsafe permissions"), "%q: %s", args, r)
	}
	n := visitors()
	m.check(n == 0, "the trap had %d visitors", n)
	m.ok("resume", "alpha", "--tmux-socket", filepath.Join(m.world.RunDir, "s"))
	m.ok("dismiss", "alpha")
}

// squat makes another user wait at the path of a socket, and counts who comes.
func (m *team) squat(path string) (visitors func() int) {
	m.Helper()
	m.must(os.MkdirAll(filepath.Dir(path), 0o777))
	_ = os.Remove(path)
	visitors = rig.Squat(m, path)
	rig.GiveAway(m, filepath.Dir(path))
	return visitors
}

// After a reboot the recorded path of a socket below /tmp is for anybody to make.
func TestRecordedSocketThatAnotherUserTookIsNotTouched(t *testing.T) {
	m := standIn(t)
	rig.NeedsRoot(t)
	m.ok("spawn", "alpha", "--prompt", "Remember 42.")
	before := m.session("alpha")
	path := tmuxPlace(m.record("alpha"))["path"].(string)
	m.killServer()
	m.waitState("alpha", "lost: tmux")
	visitors := m.squat(path)
	// The truth is told without that server.
	s := m.session("alpha")
	m.check(s.State == "lost: tmux" && !s.TmuxAlive, "%+v", s)
	m.ok("list")
	m.refused(1, "unsafe permissions", "resume", "alpha")
	m.refused(4, "is another user's", "resume", "alpha", "--tmux-socket", path)
	// And the agent comes back elsewhere.
	m.ok("resume", "alpha", "--tmux-socket", filepath.Join(m.world.RunDir, "s"))
	s = m.session("alpha")
	m.check(s.Running && s.SessionID == before.SessionID, "%+v", s)
	m.ok("stop", "alpha")
	n := visitors()
	m.check(n == 0, "the trap had %d visitors", n)
}

// A server that is said to be alive and whose socket became another's: nothing is
// asked of it, and the agent is ended by its own processes.
func TestLiveAgentWhoseSocketAnotherUserTook(t *testing.T) {
	m := standIn(t)
	rig.NeedsRoot(t)
	m.ok("spawn", "alpha")
	s := m.session("alpha")
	path := tmuxPlace(m.record("alpha"))["path"].(string)
	server := m.serverPID()
	visitors := m.squat(path)
	r := m.nbs("session", "alpha")
	m.check(r.code == 4 && strings.Contains(r.stdout, "running (verified)") && strings.Contains(r.stderr, "tmux socket"), "%v", r)
	m.refused(5, "another user's", "resume", "alpha")
	r = m.nbs("stop", "alpha")
	m.check(dead(s.RecordedPID), "claude was left running: %s", r)
	n := visitors()
	m.check(n == 0, "the trap had %d visitors", n)
	if !dead(server) { // its last session has ended; it may take a moment
		m.waitDead(server)
	}
}
