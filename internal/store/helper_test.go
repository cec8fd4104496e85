package store

import (
	"os"
	"testing"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/trust"
)

func TestMain(m *testing.M) {
	os.Exit(storetest.Main(m, playRole))
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
	rig.Must(t, folder.Make())
}

// putIn writes a file into a folder outside of the project.
func putIn(t testing.TB, folder private.Tree, name string, data []byte) {
	t.Helper()
	mustMake(t, folder)
	rig.Must(t, os.WriteFile(folder.Path(name), data, 0o600))
}
