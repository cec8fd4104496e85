package store

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/trust"

	"nbs-worker/internal/store/private"
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

// memoryProject is the folder of a project in memory.
func memoryProject(t testing.TB) string {
	t.Helper()
	project := filepath.Join(rig.MemoryDir(t), "project")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	return project
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

// putHead writes the head of the journal.
func (s *Store) putHead(t testing.TB, text []byte) {
	t.Helper()
	putIn(t, s.heads(), s.headFile(), text)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func someTime() time.Time { return time.Date(2026, 2, 20, 11, 44, 7, 0, time.UTC) }
