package life

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// What stands in a person's tmux.conf.

func (m *team) tmuxConf(lines ...string) {
	m.Helper()
	m.Must(os.WriteFile(filepath.Join(m.World.Home, ".tmux.conf"), []byte(strings.Join(lines, "\n")+"\n"), 0o600))
}

// A server that has to be started first may take its time to read the configuration.
func TestSlowTmuxConfiguration(t *testing.T) {
	m := standIn(t)
	m.tmuxConf("run-shell 'sleep 3'")
	before := m.Remembers("alpha")
	m.KillServer()
	m.WaitState("alpha", "lost: tmux")
	m.MustRemember("alpha", before)
	m.KillServer()
	m.WaitState("alpha", "lost: tmux")
	m.Refused(3, "the tmux server was silent for ", "resume", "alpha", "--timeout", "1s") // as long as a server gets at least
}

// A server that would end when nobody is attached does not, with an agent in it.
func TestTmuxThatExitsUnattached(t *testing.T) {
	m := standIn(t)
	m.tmuxConf("set -s exit-unattached on", "set -g destroy-unattached on")
	before := m.Remembers("alpha")
	m.OK("stop", "alpha")
	m.MustRemember("alpha", before)
}

// No start can succeed, and nothing is left of it.
func TestTmuxHookThatKillsSessions(t *testing.T) {
	m := standIn(t)
	m.tmuxConf("set-hook -g session-created kill-session")
	m.Refused(1, "look in your tmux.conf for a hook that ends sessions", "spawn", "alpha")
	m.Check(len(e2e.ClaudesOn(m.Session("alpha").SessionID)) == 0, "a claude is left")
	m.tmuxConf()
	m.OK("resume", "alpha")
}

// Who is attached to an agent that ends is back in the own shell, and not in another agent's terminal.
func TestAttachedPersonLeavesWithTheAgent(t *testing.T) {
	m := standIn(t)
	m.tmuxConf("set -g detach-on-destroy off")
	m.OK("spawn", "beta")
	m.OK("spawn", "alpha")
	attach := m.Command([]string{"attach", "alpha"}, "TERM=xterm-256color")
	console := m.Console(attach)
	console.MustShow("❯")
	m.OK("stop", "alpha")
	m.WaitFor("the attached terminal is given back", func() (bool, string) { return e2e.Dead(attach.Process.Pid), console.Seen.String() })
	_ = attach.Wait()
}
