package recover

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A project folder that was moved, or renamed, takes its agents along.

func (m *team) moveProject() (from, to string) {
	m.Helper()
	from, to = m.World.Project, m.World.Root+"/moved"
	m.Must(os.Rename(from, to))
	m.World.Project, m.Dir = to, to
	return from, to
}

func TestMovedProjectComesBack(t *testing.T) {
	m := standIn(t)
	m.Must(os.Mkdir(filepath.Join(m.World.Project, "sub"), 0o700))
	alpha := m.Remembers("alpha")
	m.OK("spawn", "beta", "--model", "sonnet", "--cwd", "sub", "--trust", "--prompt", "Remember 43.")
	m.MustAnswer("beta", "OK, I will remember 43.")
	m.OK("stop", "alpha", "beta")
	from, to := m.moveProject()
	r := m.NBS("resume", "alpha", "beta", "--trust", "--prompt", "What number?")
	if r.Code != 0 || !strings.Contains(r.Stderr, "alpha: its folder has moved from "+from+" to "+to) || !strings.Contains(r.Stderr, "beta: its folder has moved from "+from+"/sub to "+to+"/sub") {
		t.Error(r)
	}
	m.MustAnswer("alpha", "42")
	m.MustAnswer("beta", "43")
	s := m.Session("alpha")
	m.Check(s.SessionID == alpha.SessionID && len(s.Drift) == 0, "%+v", s)
	m.WaitState("alpha", "idle")
	m.MustRemember("alpha", alpha, "--force")
	m.Doctor(0).IsWell(m.Team, "team.health", "team.transcripts")
}
