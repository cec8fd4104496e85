package rig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/sim/private"
)

// World is a private place on disk for one test.
type World struct{ private.World }

// NewWorld makes the folders and a configuration that trusts the project. baseURL is the API's, on loopback; when it
// is empty, nothing can be reached. At the test's end every process that has this world's environment is killed.
func NewWorld(t testing.TB, baseURL string) *World {
	t.Helper()
	made, err := private.Make(ShortDir(t), baseURL)
	if err != nil {
		t.Fatal(err)
	}
	w := &World{made}
	t.Cleanup(func() {
		sayHowToRepeat(t)
		endLeftovers(t, w.World)
		reportRaces(t, w.Root)
	})
	Config(t, w.ConfigDir, ConfigOptions{Trusted: []string{w.Project}})
	return w
}

// ShortDir is a folder of the test's own with a short path, because the paths of sockets are bounded.
func ShortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "nbs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeAll(t, dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// MemoryDir is a folder of the test's own, in memory where the machine has /dev/shm: a disk is too slow for fuzzing.
func MemoryDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "nbs")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { removeAll(t, dir) })
	return dir
}

// removeAll tries again: a program that was just killed may still write its last file.
func removeAll(t testing.TB, dir string) {
	var err error
	if ok, _ := poll(patience, func() (bool, string) { err = os.RemoveAll(dir); return err == nil, "" }); !ok {
		t.Logf("remove %s: %v", dir, err)
	}
}

// Env is the whole environment for nbs-worker or claude: nothing of the developer's own but PATH. An extra NAME=VALUE
// replaces, an extra NAME removes.
func (w *World) Env(extra ...string) []string {
	env := append(w.World.Env(), raceOptions(w.Root))
	for _, e := range extra {
		env = with(env, e)
	}
	return env
}

func with(env []string, change string) []string {
	name, _, add := strings.Cut(change, "=")
	var changed []string
	for _, e := range env {
		if !strings.HasPrefix(e, name+"=") {
			changed = append(changed, e)
		}
	}
	if add {
		changed = append(changed, change)
	}
	return changed
}
