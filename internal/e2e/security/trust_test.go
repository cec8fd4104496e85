package security

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// Claude trusts all that is in a folder with it, so --trust is for one that was named.

func (m *team) mustTrustNothing(what string) {
	m.Helper()
	text, err := os.ReadFile(filepath.Join(m.World.ConfigDir, ".claude.json"))
	m.Check(err != nil || strings.Count(string(text), "hasTrustDialogAccepted") <= 1, "%s: %s", what, text) // the project's own, by the rig
}

func TestSecurityTrustNamesItsFolder(t *testing.T) {
	m := standIn(t)
	outside := m.OtherProject()
	for _, folder := range []string{"/", m.World.Home, filepath.Dir(m.World.Home)} {
		for _, flag := range []string{"--trust", "--trust=" + folder} {
			m.Refused(4, "Claude would trust all that is in the home folder", "spawn", "alpha", "--cwd", folder, flag)
		}
	}
	m.Env = e2e.Without(m.Env, "HOME") // then the user database tells
	if home, err := os.UserHomeDir(); err == nil {
		m.Refused(4, "Claude would trust all that is in the home folder", "spawn", "alpha", "--cwd", home, "--trust="+home)
	}
	m.Env = append(m.Env, "HOME="+m.World.Home)
	r := m.Refused(4, "--trust alone is for folders of the project", "spawn", "alpha", "--cwd", outside, "--trust")
	m.Check(strings.Contains(r.Stderr, "--trust='"+outside+"'"), "%v", r)
	m.Refused(4, "--trust names", "spawn", "alpha", "--cwd", outside, "--trust="+m.World.Project)
	m.Refused(4, "--trust names", "spawn", "alpha", "--trust="+outside)
	m.Refused(4, "stands behind an equals sign", "spawn", "alpha", "--trust", outside)
	m.Refused(2, "the folder to trust", "spawn", "alpha", "--trust="+outside+"/none")
	m.mustTrustNothing("what was refused trusts a folder")
	m.OK("spawn", "alpha", "--trust")
	m.OK("spawn", "beta", "--cwd", outside, "--trust="+outside)
	text, err := os.ReadFile(filepath.Join(m.World.ConfigDir, ".claude.json"))
	m.Check(err == nil && strings.Contains(string(text), outside), "%v: %s", err, text)
}
