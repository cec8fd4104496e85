package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What stands in a person's tmux.conf.

func (m *team) tmuxConf(lines ...string) {
	m.Helper()
	m.must(os.WriteFile(filepath.Join(m.world.Home, ".tmux.conf"), []byte(strings.Join(lines, "\n")+"\n"), 0o600))
}

// A server that has to be started first may take its time to read the configuration.
func TestSlowTmuxConfiguration(t *testing.T) {
	m := standIn(t)
	m.tmuxConf("run-shell 'sleep 3'")
	before := m.remembers("alpha")
	m.killServer()
	m.waitState("alpha", "lost: tmux")
	m.mustRemember("alpha", before)
	m.doctor(0).isWell(m, "tmux.trial", "tmux.settings")
	m.killServer()
	m.waitState("alpha", "lost: tmux")
	m.refused(3, "the tmux server was silent for 2", "resume", "alpha", "--timeout", "1s") // as long as a server gets at least
}

// Of a server that is started to see what is configured nothing stays, though it would not end by itself.
func TestTmuxThatStaysWhenItIsEmpty(t *testing.T) {
	m := standIn(t)
	scratch := m.folder("scratch")
	m.env = append(m.env, "TMPDIR="+scratch)
	m.tmuxConf("set-option -s exit-empty off")
	m.doctor(0).isWell(m, "tmux.trial", "tmux.settings")
	m.waitFor("the servers are gone", func() (bool, string) { // tmux answers kill-server before the last of its end
		var left []string
		for _, pid := range allPIDs() {
			cmdline, _ := os.ReadFile(procFile(pid, "cmdline"))
			if strings.Contains(string(cmdline), scratch) && !dead(pid) {
				left = append(left, string(cmdline))
			}
		}
		return len(left) == 0, strings.Join(left, "\n")
	})
}

// A server that would end when nobody is attached does not, with an agent in it.
func TestTmuxThatExitsUnattached(t *testing.T) {
	m := standIn(t)
	m.tmuxConf("set -s exit-unattached on", "set -g destroy-unattached on")
	before := m.remembers("alpha")
	m.ok("stop", "alpha")
	m.mustRemember("alpha", before)
	m.killServer()
	m.doctor(0).finds(m, "tmux.settings", "note", "tmux has exit-unattached on")
}

// No start can succeed: the error names the hook, and doctor knows it beforehand.
func TestTmuxHookThatKillsSessions(t *testing.T) {
	m := standIn(t)
	m.tmuxConf("set-hook -g session-created kill-session")
	m.doctor(1).finds(m, "tmux.settings", "failure", "session-created")
	r := m.refused(6, "a hook of your tmux configuration ends each session as soon as it is made: session-created", "spawn", "alpha")
	m.check(!strings.Contains(r.stderr, "launcher was killed"), "%v", r)
	m.tmuxConf()
	m.ok("resume", "alpha")
}

// A hook that is late ends a claude that was started already.
func TestTmuxHookThatKillsSessionsLate(t *testing.T) {
	m := standIn(t, "start-delay=30s")
	m.tmuxConf("set-hook -g session-created \"run-shell 'sleep 0.5' ; kill-session\"")
	m.refused(6, "a hook of your tmux configuration ends each session as soon as it is made: session-created", "spawn", "alpha")
}
