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
	if err := os.Rename(from, to); err != nil {
		m.Fatal(err)
	}
	m.world.Project, m.dir = to, to
	return from, to
}

func TestMovedProjectComesBack(t *testing.T) {
	m := real(t)
	if err := os.Mkdir(filepath.Join(m.world.Project, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
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
	if s := m.session("alpha"); s.SessionID != alpha.SessionID || len(s.Drift) > 0 {
		t.Errorf("%+v", s)
	}
	m.waitState("alpha", "idle")
	m.mustRemember("alpha", alpha, "--force")
	m.doctor(0).isWell(m, "team.folders", "team.transcripts")
}
