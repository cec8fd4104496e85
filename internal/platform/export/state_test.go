package export

import (
	"path/filepath"
	"testing"

	"nbs-worker/internal/sim/rig"
)

func TestStateOfAUnit(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	for prints, want := range map[string]State{
		"LoadState=loaded\nActiveState=active\nUnitFileState=enabled":      {true, true, "active"},
		"LoadState=not-found\nActiveState=inactive\nUnitFileState=":        {Active: "inactive"},
		"ActiveState=failed\nUnitFileState=disabled\nLoadState=loaded\nX=": {Installed: true, Active: "failed"},
	} {
		rig.WriteProgram(t, filepath.Join(dir, "systemctl"), "#!/bin/sh\necho '"+prints+"'\n")
		got, err := StateOf(t.Context(), "nbs-serve-x.service")
		rig.Check(t, err == nil && got == want, "%s: %+v, %v", prints, got, err)
	}
	rig.WriteProgram(t, filepath.Join(dir, "systemctl"), "#!/bin/sh\necho 'Failed to connect to bus'; exit 1\n")
	_, err := StateOf(t.Context(), "nbs-serve-x.service")
	rig.Check(t, err != nil, "no systemd, and no error")
}
