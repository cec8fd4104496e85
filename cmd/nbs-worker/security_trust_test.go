package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// Claude trusts all that is in a folder with it, so --trust is for one that was named.

func TestSecurityTrustNamesItsFolder(t *testing.T) {
	m := standIn(t)
	outside := m.otherProject()
	m.refused(4, "Claude would trust all that is in the home folder", "spawn", "alpha", "--cwd", m.world.Home, "--trust") // and others: internal/supervisor
	m.refused(4, "--trust names", "spawn", "alpha", "--trust="+outside)
	m.refused(4, "stands behind an equals sign", "spawn", "alpha", "--trust", outside)
	m.refused(2, "the folder to trust", "spawn", "alpha", "--trust="+outside+"/none")
	config := filepath.Join(m.world.ConfigDir, ".claude.json")
	if text := read(t, config); strings.Count(text, "hasTrustDialogAccepted") > 1 { // the project's own, by the rig
		t.Errorf("what was refused trusts a folder: %s", text)
	}
	m.ok("spawn", "alpha", "--trust")
	m.ok("spawn", "beta", "--cwd", outside, "--trust="+outside)
	if text := read(t, config); !strings.Contains(text, outside) {
		t.Error(text)
	}
}
