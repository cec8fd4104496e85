package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// Names that lead elsewhere, or that mean something to a shell, to tmux or to claude:
// handles, and the folders in which agents work.

// knownVerbs are the verbs that take the handle of an agent that is there. attach wants a terminal first.
var knownVerbs = []string{"session", "resume", "stop", "dismiss", "run"}

func TestHandlesThatDifferInCaseAreOneAgent(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "Alpha")
	m.refused(5, "the handle is taken", "spawn", "alpha")
	m.refused(5, "runs already", "resume", "ALPHA")
	m.ok("stop", "aLPHA")
	m.ok("resume", "alpha")
	s := m.session("alpha")
	m.check(s.Running && s.TmuxSession == "nbs-Alpha-live", "%+v", s)
	m.ok("dismiss", "ALPHA")
	entries, err := os.ReadDir(filepath.Dir(m.recordPath("x")))
	m.check(err == nil && len(entries) == 0, "left: %v, %v", entries, err)
}

// tmux takes a bare name for a prefix or a pattern, and ends whoever fits.
func TestNeighbourWithALongerNameIsNotTaken(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "bobby")
	m.tmux("new-session", "-d", "-s", "nbs-bob-live-2", "cat; cat")
	for _, verb := range knownVerbs {
		m.refused(2, "no such agent", verb, "bob")
	}
	s := m.session("bobby")
	m.check(s.Running && s.TmuxAlive, "the neighbour was touched: %+v", s)
	sessions := m.sessionNames()
	m.check(strings.Contains(sessions, "nbs-bob-live-2\n"), "sessions left: %q", sessions)
}

// hostileFolders are names that a folder may have.
var hostileFolders = []string{
	"p#(touch PWN)#{pid}", "p#(touch PWN)#{pid};", "-x", " leading and trailing blank ", "it's \"quoted\"", ";",
	"$(touch PWN)`touch PWN`", "x; touch PWN", `*?[a-z]~%s\`, "esc\x1b[2J\u202e 日本語 é",
}

func TestHostileProjectFolders(t *testing.T) {
	m := standIn(t)
	rig.Config(t, m.world.ConfigDir, rig.ConfigOptions{Trusted: []string{m.world.Root}})
	for i, name := range hostileFolders {
		m.dir = m.folder(filepath.Join("projects", name))
		handle := fmt.Sprintf("agent%d", i)
		m.liveAndDie(handle, m.dir, "spawn", handle, "--prompt", "Remember 42.")
		_, err := os.Stat(filepath.Join(m.dir, ".nbs"))
		m.check(err == nil, "%q: %v", name, err)
	}
	m.noCanary()
}

func TestHostileWorkingDirectories(t *testing.T) {
	m := standIn(t)
	rig.Config(t, m.world.ConfigDir, rig.ConfigOptions{Trusted: []string{m.world.Root}})
	for i, name := range hostileFolders {
		cwd := m.folder(filepath.Join("folders", name))
		handle := fmt.Sprintf("agent%d", i)
		m.liveAndDie(handle, cwd, "spawn", handle, "--prompt", "Remember 42.", "--cwd="+cwd)
	}
	m.noCanary()
}

// liveAndDie takes an agent through its verbs and checks where its claude runs.
func (m *team) liveAndDie(handle, cwd string, spawn ...string) {
	m.Helper()
	m.ok(spawn...)
	m.mustRunIn(handle, cwd)
	for _, args := range [][]string{{"session", handle}, {"list"}} {
		if out := m.ok(args...); steering(out) || !strings.Contains(out, handle) {
			m.Errorf("%s in %q: %q", args[0], cwd, out)
		}
	}
	m.ok("stop", handle)
	m.ok("resume", handle)
	m.mustRunIn(handle, cwd)
	m.ok("dismiss", handle)
}

func (m *team) mustRunIn(handle, cwd string) {
	m.Helper()
	s := m.session(handle)
	at, err := os.Readlink(procFile(s.RecordedPID, "cwd"))
	m.check(err == nil && at == cwd && s.Running && s.TmuxAlive, "claude runs in %q, want %q: %v, %+v", at, cwd, err, s)
}

// A record is lines to many a tool, and no path of ours holds a line break.
func TestFolderWithALineBreakIsRefused(t *testing.T) {
	m := standIn(t)
	folder := m.folder("a\nhint: rm -rf ~")
	r := m.refused(4, "line break", "spawn", "alpha", "--cwd", folder)
	m.check(strings.Count(r.stderr, "\n") == 1, "the name stands on lines of its own: %q", r.stderr)
	m.dir = folder
	m.refused(4, "line break", "spawn", "alpha")
	m.check(!exists(filepath.Join(folder, ".nbs")), "a refused project got a .nbs")
}
