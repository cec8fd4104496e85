package security

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// Names that lead elsewhere, or that mean something to a shell, to tmux or to claude:
// handles, and the folders in which agents work.

// knownVerbs are the verbs that take the handle of an agent that is there. attach wants a terminal first.
var knownVerbs = []string{"session", "resume", "stop", "dismiss", "run"}

func TestHandlesThatDifferInCaseAreOneAgent(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "Alpha")
	m.Refused(5, "the handle is taken", "spawn", "alpha")
	m.Refused(5, "runs already", "resume", "ALPHA")
	m.OK("stop", "aLPHA")
	m.OK("resume", "alpha")
	s := m.Session("alpha")
	m.Check(s.Running && s.TmuxSession == "nbs-Alpha-live", "%+v", s)
	m.OK("dismiss", "ALPHA")
	entries, err := os.ReadDir(filepath.Dir(m.RecordPath("x")))
	m.Check(err == nil && len(entries) == 0, "left: %v, %v", entries, err)
}

// tmux takes a bare name for a prefix or a pattern, and ends whoever fits.
func TestNeighbourWithALongerNameIsNotTaken(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "bobby")
	m.Tmux("new-session", "-d", "-s", "nbs-bob-live-2", "cat; cat")
	for _, verb := range knownVerbs {
		m.Refused(2, "no such agent", verb, "bob")
	}
	s := m.Session("bobby")
	m.Check(s.Running && s.TmuxAlive, "the neighbour was touched: %+v", s)
	sessions := m.SessionNames()
	m.Check(strings.Contains(sessions, "nbs-bob-live-2\n"), "sessions left: %q", sessions)
}

// hostileFolders are names that a folder may have.
var hostileFolders = []string{
	"p#(touch PWN)#{pid};", "-x $(touch PWN)`touch PWN`", " x; touch PWN ", ";", "it's \"quoted\" *?[a-z]~%s\\", "esc\x1b[2J\u202e 日本語 é",
}

func TestHostileProjectFoldersAndWorkingDirectories(t *testing.T) {
	m := standIn(t)
	rig.Config(t, m.World.ConfigDir, rig.ConfigOptions{Trusted: []string{m.World.Root}})
	for i, name := range hostileFolders {
		m.Dir = m.Folder(filepath.Join("projects", name))
		handle, cwd := fmt.Sprintf("agent%d", i), m.Folder(filepath.Join("folders", name))
		m.liveAndDie(handle, cwd, "spawn", handle, "--prompt", "Remember 42.", "--cwd="+cwd)
		_, err := os.Stat(filepath.Join(m.Dir, ".nbs"))
		m.Check(err == nil, "%q: %v", name, err)
	}
	m.noCanary()
}

// liveAndDie takes an agent through its verbs and checks where its claude runs.
func (m *team) liveAndDie(handle, cwd string, spawn ...string) {
	m.Helper()
	m.OK(spawn...)
	m.mustRunIn(handle, cwd)
	for _, args := range [][]string{{"session", handle}, {"list"}} {
		if out := m.OK(args...); strings.ContainsAny(out, "\x1b\u202e") || !strings.Contains(out, handle) {
			m.Errorf("%s in %q: %q", args[0], cwd, out)
		}
	}
	m.OK("stop", handle)
	m.OK("resume", handle)
	m.mustRunIn(handle, cwd)
	m.OK("dismiss", handle)
}

func (m *team) mustRunIn(handle, cwd string) {
	m.Helper()
	s := m.Session(handle)
	at, err := os.Readlink(e2e.ProcFile(s.RecordedPID, "cwd"))
	m.Check(err == nil && at == cwd && s.Running && s.TmuxAlive, "claude runs in %q, want %q: %v, %+v", at, cwd, err, s)
}
