package ops

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/host"
	"nbs-worker/internal/sim/rig"
)

// What an attempt to log in writes is no reason for the next one. What the user mends is.
func TestWhatMayMendALogin(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	rig.Must(t, os.Mkdir(filepath.Join(home, ".ssh"), 0o700))
	f, err := watchHostFiles(t.Context(), host.File(filepath.Join(home, "hosts.yaml")))
	rig.Must(t, err)
	for name, mends := range map[string]bool{"log": false, "nohup.out": false, "config": true, "id_ed25519": true, "known_hosts": true, "known_hosts2": true} {
		for _, text := range []string{"one", "another"} {
			rig.Must(t, os.WriteFile(filepath.Join(home, ".ssh", name), []byte(text), 0o600))
			rig.Equal(t, f.sshChanged(), mends, "%s mends a login", name)
			rig.Check(t, !f.sshChanged(), "%s: asked again without a change", name)
		}
	}
}

// A watch of the files that ends says why.
func TestFilesThatCannotBeWatched(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	config := filepath.Join(home, "config")
	rig.Must(t, os.MkdirAll(filepath.Join(config, "nbs-worker"), 0o700))
	f, err := watchHostFiles(t.Context(), host.File(filepath.Join(config, "nbs-worker", "hosts.yaml")))
	rig.Must(t, err)
	rig.Must(t, os.RemoveAll(config))
	rig.Must(t, os.WriteFile(config, nil, 0o600))
	err = <-f.lost
	rig.Check(t, strings.HasPrefix(err.Error(), "watch files and processes: "), "%v", err)
}
