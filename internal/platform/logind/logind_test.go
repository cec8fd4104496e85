package logind

import (
	"path/filepath"
	"testing"

	"nbs-worker/internal/sim/rig"
)

func TestKillsProcesses(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	for prints, want := range map[string]struct{ kills, known bool }{
		"echo b true": {true, true}, "echo b false": {false, true}, "echo": {}, "echo b true; exit 1": {},
	} {
		rig.WriteProgram(t, filepath.Join(dir, "busctl"), "#!/bin/sh\n"+prints+"\n")
		kills, err := KillsProcesses(t.Context())
		rig.Check(t, kills == want.kills && (err == nil) == want.known, "%s: %t, %v", prints, kills, err)
	}
}

func TestLingers(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	for prints, want := range map[string]bool{"echo yes": true, "echo no": false, "exit 1": false} {
		rig.WriteProgram(t, filepath.Join(dir, "loginctl"), "#!/bin/sh\n"+prints+"\n")
		rig.Check(t, Lingers(t.Context(), "nobody-of-this-name") == want, "%s: %t", prints, !want)
	}
}
