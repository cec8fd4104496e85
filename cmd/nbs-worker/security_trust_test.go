package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Claude trusts all that is in a folder with it, so --trust is for one that was named.

func (m *team) mustTrustNothing(what string) {
	m.Helper()
	text, err := os.ReadFile(filepath.Join(m.world.ConfigDir, ".claude.json"))
	m.check(err != nil || strings.Count(string(text), "hasTrustDialogAccepted") <= 1, "%s: %s", what, text) // the project's own, by the rig
}

func TestSecurityTrustNamesItsFolder(t *testing.T) {
	m := standIn(t)
	outside := m.otherProject()
	for _, folder := range []string{"/", m.world.Home, filepath.Dir(m.world.Home)} {
		for _, flag := range []string{"--trust", "--trust=" + folder} {
			m.refused(4, "Claude would trust all that is in the home folder", "spawn", "alpha", "--cwd", folder, flag)
		}
	}
	m.env = without(m.env, "HOME") // then the user database tells
	if home, err := os.UserHomeDir(); err == nil {
		m.refused(4, "Claude would trust all that is in the home folder", "spawn", "alpha", "--cwd", home, "--trust="+home)
	}
	m.env = append(m.env, "HOME="+m.world.Home)
	r := m.refused(4, "--trust alone is for folders of the project", "spawn", "alpha", "--cwd", outside, "--trust")
	m.check(strings.Contains(r.stderr, "--trust='"+outside+"'"), "%v", r)
	m.refused(4, "--trust names", "spawn", "alpha", "--cwd", outside, "--trust="+m.world.Project)
	m.refused(4, "--trust names", "spawn", "alpha", "--trust="+outside)
	m.refused(4, "stands behind an equals sign", "spawn", "alpha", "--trust", outside)
	m.refused(2, "the folder to trust", "spawn", "alpha", "--trust="+outside+"/none")
	m.mustTrustNothing("what was refused trusts a folder")
	m.ok("spawn", "alpha", "--trust")
	m.ok("spawn", "beta", "--cwd", outside, "--trust="+outside)
	text, err := os.ReadFile(filepath.Join(m.world.ConfigDir, ".claude.json"))
	m.check(err == nil && strings.Contains(string(text), outside), "%v: %s", err, text)
}
