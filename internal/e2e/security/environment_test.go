package security

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// The environment of a caller reaches the claude of that call and nobody else: a tmux
// server lives on, and everybody's later panes would inherit what it got.

func TestEnvironmentOfOneCallerDoesNotReachTheNext(t *testing.T) {
	m := standIn(t)
	seen := m.spyOnTmux()
	common := m.Env
	m.Env = slices.Concat(common, []string{"CALLER=canary-one", "SERVICE_TOKEN=canary-one", "ONLY_ONE=canary-one"})
	m.OK("spawn", "one", "--env", "RECORDED=/canary-one.so")
	m.Env = slices.Concat(common, []string{"CALLER=canary-two", "SERVICE_TOKEN=canary-two"})
	m.OK("spawn", "two")
	m.OK("resume", "one", "--force")
	one, two := m.Environ(m.Session("one").RecordedPID), m.Environ(m.Session("two").RecordedPID)
	if one["SERVICE_TOKEN"] != "canary-two" || two["SERVICE_TOKEN"] != "canary-two" || one["CALLER"] != "canary-two" {
		t.Errorf("the agents have %q, %q, %q", one["SERVICE_TOKEN"], two["SERVICE_TOKEN"], one["CALLER"])
	}
	for name, value := range two {
		m.Check(!strings.Contains(value, "canary-one"), "the second agent got the first caller's %s", name)
	}
	_, left := one["ONLY_ONE"]
	m.Check(!left && one["RECORDED"] == "/canary-one.so", "after a resume by the second caller: %q", one)
	m.Env = common
	m.mustNotKnow("canary-", seen())
}

// mustNotKnow checks that a text is not with tmux, its panes to come, or a launcher.
func (m *team) mustNotKnow(canary, ofTmux string) {
	m.Helper()
	m.Check(!strings.Contains(ofTmux, canary), "a tmux client got %s", canary)
	for _, args := range [][]string{
		{"show-environment", "-g"}, {"show-environment", "-t", "=nbs-one-live"}, {"show-environment", "-t", "=nbs-two-live"},
		{"show-options", "-g"}, {"show-options", "-s"}, {"show-options", "-t", "=nbs-one-live:"}, {"show-buffer"},
		{"list-panes", "-a", "-F", "#{pane_start_command} #{pane_title} #{session_path} #{@nbs_invocation}"},
	} {
		out := m.Tmux(args...)
		m.Check(!strings.Contains(out, canary), "tmux %q tells: %s", args, out)
	}
	out := filepath.Join(m.World.Root, "env-of-a-new-window")
	m.Tmux("new-window", "-t", "=nbs-one-live:", "env >"+out+".part; mv "+out+".part "+out+"; cat")
	m.WaitFor("the new window has said its environment", func() (bool, string) { return e2e.Exists(out), "" })
	text, err := os.ReadFile(out)
	m.Check(err == nil && !strings.Contains(string(text), canary), "a new window has %s, %v", text, err)
	for _, pid := range []int{m.ServerPID(), m.Launcher("one"), m.Launcher("two")} {
		for _, file := range []string{"cmdline", "environ"} {
			if text, err := os.ReadFile(e2e.ProcFile(pid, file)); err != nil || strings.Contains(string(text), canary) {
				m.Errorf("%s: %q, %v", e2e.ProcFile(pid, file), text, err)
			}
		}
	}
}

// Where sockets are made may be everybody's, as /tmp is; the folder in it may not.
func TestTmuxFolderOfAnotherUserIsRefused(t *testing.T) {
	m := standIn(t)
	rig.NeedsRoot(t)
	squatted := filepath.Join(m.World.TmuxDir, "tmux-0")
	visitors := m.squat(filepath.Join(squatted, "default"))
	for _, args := range [][]string{{"spawn", "alpha"}, {"spawn", "beta", "--no-wait"}} {
		r := m.NBS(args...)
		m.Check(r.Code == 1 && strings.Contains(r.Stderr, "unsafe permissions"), "%q: %s", args, r)
	}
	n := visitors()
	m.Check(n == 0, "the trap had %d visitors", n)
	m.OK("resume", "alpha", "--tmux-socket", filepath.Join(m.World.RunDir, "s"))
	m.OK("dismiss", "alpha")
}

// squat makes another user wait at the path of a socket, and counts who comes.
func (m *team) squat(path string) (visitors func() int) {
	m.Helper()
	m.Must(os.MkdirAll(filepath.Dir(path), 0o777))
	_ = os.Remove(path)
	visitors = rig.Squat(m, path)
	rig.GiveAway(m, filepath.Dir(path))
	return visitors
}

// After a reboot the recorded path of a socket below /tmp is for anybody to make.
func TestRecordedSocketThatAnotherUserTookIsNotTouched(t *testing.T) {
	m := standIn(t)
	rig.NeedsRoot(t)
	m.OK("spawn", "alpha", "--prompt", "Remember 42.")
	before := m.Session("alpha")
	path := e2e.TmuxPlace(m.Record("alpha"))["path"].(string)
	m.KillServer()
	m.WaitState("alpha", "lost: tmux")
	visitors := m.squat(path)
	// The truth is told without that server.
	s := m.Session("alpha")
	m.Check(s.State == "lost: tmux" && !s.TmuxAlive, "%+v", s)
	m.OK("list")
	m.Refused(1, "unsafe permissions", "resume", "alpha")
	m.Refused(4, "belongs to another user", "resume", "alpha", "--tmux-socket", path)
	// And the agent comes back elsewhere.
	m.OK("resume", "alpha", "--tmux-socket", filepath.Join(m.World.RunDir, "s"))
	s = m.Session("alpha")
	m.Check(s.Running && s.SessionID == before.SessionID, "%+v", s)
	m.OK("stop", "alpha")
	n := visitors()
	m.Check(n == 0, "the trap had %d visitors", n)
}
