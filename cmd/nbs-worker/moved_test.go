package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A project folder that was moved, or renamed, takes its agents along.

func (m *team) moveProject() (from, to string) {
	m.Helper()
	from, to = m.world.Project, m.world.Root+"/moved"
	m.must(os.Rename(from, to))
	m.world.Project, m.dir = to, to
	return from, to
}

func TestMovedProjectComesBack(t *testing.T) {
	m := real(t)
	m.must(os.Mkdir(filepath.Join(m.world.Project, "sub"), 0o700))
	alpha := m.remembers("alpha")
	m.ok("spawn", "beta", "--model", "sonnet", "--cwd", "sub", "--trust", "--prompt", "Remember 43.")
	m.mustAnswer("beta", "OK, I will remember 43.")
	m.ok("stop", "alpha", "beta")
	from, to := m.moveProject()
	m.doctor(1).finds(m, "team.folders", "note", "alpha: its folder has moved with the project, from \""+from+"\"")
	r := m.nbs("resume", "alpha", "beta", "--trust", "--prompt", "What number?")
	if r.code != 0 || !strings.Contains(r.stderr, "alpha: its folder is now "+to+"; it was "+from) || !strings.Contains(r.stderr, "beta: its folder is now "+to+"/sub") {
		t.Error(r)
	}
	m.mustAnswer("alpha", "42")
	m.mustAnswer("beta", "43")
	s := m.session("alpha")
	m.check(s.SessionID == alpha.SessionID && len(s.Drift) == 0, "%+v", s)
	m.waitState("alpha", "idle")
	m.mustRemember("alpha", alpha, "--force")
	m.doctor(0).isWell(m, "team.folders", "team.transcripts")
}

// A folder that is gone from where it was is named, and so is the way out.
func TestFolderThatWentElsewhere(t *testing.T) {
	m := standIn(t)
	outside := m.folder("outside")
	m.ok("spawn", "alpha", "--model", "sonnet", "--cwd", outside, "--trust="+outside, "--prompt", "Remember 42.")
	m.mustAnswer("alpha", "OK, I will remember 42.")
	m.ok("stop", "alpha")
	before := m.session("alpha")
	elsewhere := m.world.Root + "/elsewhere"
	m.must(os.Rename(outside, elsewhere))
	m.refused(2, "nbs-worker resume alpha --cwd DIR", "resume", "alpha")
	m.doctor(1).finds(m, "team.folders", "failure", "nbs-worker resume alpha --cwd DIR")
	m.mustRemember("alpha", before, "--cwd", elsewhere, "--trust="+elsewhere)
	m.ok("dismiss", "alpha")
	m.must(os.Rename(elsewhere, outside))
	m.refused(2, "--session-id "+before.SessionID+" --cwd DIR", "spawn", "beta", "--session-id", before.SessionID)
	m.ok("spawn", "beta", "--session-id", before.SessionID, "--cwd", outside, "--trust="+outside, "--prompt", "What number?")
	m.mustAnswer("beta", "42")
}
