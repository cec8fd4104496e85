package projects_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/journal"
	"nbs-worker/internal/store/projects"
	"nbs-worker/internal/store/trust"
)

// user has a folder with projects, and a state folder.
type user struct {
	*testing.T
	folder string
	home   trust.Home
}

func newUser(t *testing.T) *user {
	t.Helper()
	folder := t.TempDir()
	return &user{t, folder, trust.Home(filepath.Join(folder, "state"))}
}

// open opens a project, and creates it first if it is missing.
func (u *user) open(name string) *store.Store {
	u.Helper()
	path := filepath.Join(u.folder, name)
	rig.Must(u, os.MkdirAll(path, 0o700))
	s, err := store.Create(path)
	rig.Must(u, err)
	u.Cleanup(func() { _ = s.Close() })
	s.Use(trust.NewKeeper(u.home))
	return s
}

// change changes something in a project, as each verb does that starts an agent.
func (u *user) change(name string) {
	u.Helper()
	s := u.open(name)
	unlock, err := s.LockVerb("alice", "spawn", time.Now())
	rig.Must(u, err)
	defer unlock()
	rig.Must(u, s.Journal().Append(u.Context(), journal.Event{At: time.Now(), Event: "spawn", Handle: "alice", SessionID: agent.SessionID("in " + name)}))
}

func (u *user) known() []projects.Project {
	u.Helper()
	known, err := projects.Of(u.home).Known()
	rig.Must(u, err)
	return known
}

func TestAProjectIsKnownFromItsFirstChangeOn(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	rig.Equal(t, len(u.known()), 0, "known projects")
	u.open("b")
	rig.Equal(t, len(u.known()), 0, "known projects")
	u.change("b")
	u.change("a")
	u.change("b")
	known := u.known()
	rig.Equal(t, len(known), 2, "known projects")
	for i, name := range []string{"a", "b"} {
		p := known[i]
		rig.Equal(t, p.Path, filepath.Join(u.folder, name), "the path")
		rig.Must(t, p.Gone)
		rig.Check(t, !p.First.IsZero() && !p.Last.Before(p.First), "it is known from %s to %s", p.First, p.Last)
	}
}

func TestAGoneProjectIsKnownUntilItIsForgotten(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.change("a")
	path := filepath.Join(u.folder, "a")
	rig.Must(t, os.RemoveAll(path))
	for range 2 {
		known := u.known()
		rig.Equal(t, len(known), 1, "known projects")
		rig.Equal(t, fail.KindOf(known[0].Gone), fail.NotFound, "the kind of the error")
		rig.Check(t, strings.Contains(strings.Join(fail.HintsOf(known[0].Gone), "\n"), "nbs-worker project forget "+human.ShellWord(path)), "hints: %q", fail.HintsOf(known[0].Gone))
	}
	rig.Must(t, projects.Of(u.home).Forget(path))
	rig.Equal(t, len(u.known()), 0, "known projects")
	rig.Equal(t, fail.KindOf(projects.Of(u.home).Forget(path)), fail.NotFound, "the kind of the error")
	u.change("a")
	rig.Equal(t, len(u.known()), 1, "known projects")
}

func TestAMovedProjectNamesItsNewPlace(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.change("a")
	u.change("a") // the journal has a line now, by which it is recognised
	u.change("other")
	u.change("other")
	rig.Must(t, os.Rename(filepath.Join(u.folder, "a"), filepath.Join(u.folder, "b")))
	rig.Equal(t, u.known()[0].Moved, "", "moved to")
	u.change("b")
	known := u.known()
	rig.Equal(t, len(known), 3, "known projects")
	rig.Equal(t, known[0].Moved, filepath.Join(u.folder, "b"), "moved to")
	rig.Must(t, known[1].Gone)
	rig.Check(t, strings.Contains(known[0].Gone.Error(), "was moved to"), "it says: %s", known[0].Gone)
}

func TestAFileThatNamesAnotherProjectIsNotBelieved(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.change("a")
	file := u.home.Path("projects", projects.HashOf(filepath.Join(u.folder, "a"))+".json")
	for _, text := range []string{`{"path":"/etc"}`, `{"path":"a"}`, `{`, ``} {
		rig.Must(t, os.WriteFile(file, []byte(text), 0o600))
		rig.Equal(t, len(u.known()), 0, "known projects")
	}
	u.change("a")
	rig.Equal(t, len(u.known()), 1, "known projects")
}
