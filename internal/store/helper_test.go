package store

import (
	"os"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/trust"
)

// All tests run under the umask that protects nothing.
func TestMain(m *testing.M) {
	syscall.Umask(0)
	if role := rig.Role(); role != nil {
		playRole(role)
		return
	}
	os.Exit(rig.Tight(m))
}

// homeOf is the state folder of the user whose project it is, in these tests beside it.
func homeOf(project string) trust.Home { return trust.Home(project + ".home") }

// own is an opened store with its user's key and folders.
func own(s *Store, err error) (*Store, error) {
	if err == nil {
		s.Use(trust.NewKeeper(homeOf(s.Project())))
	}
	return s, err
}

func mustMake(t testing.TB, folder private.Tree) {
	t.Helper()
	if err := folder.Make(); err != nil {
		t.Fatal(err)
	}
}

// putIn writes a file into a folder outside of the project.
func putIn(t testing.TB, folder private.Tree, name string, data []byte) {
	t.Helper()
	mustMake(t, folder)
	if err := os.WriteFile(folder.Path(name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}
