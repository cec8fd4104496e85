package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/journal"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/storetest"
)

const (
	aliceID = storetest.AliceID
	otherID = storetest.OtherID
)

// newStore makes a project without agents. The first verb makes what is in .nbs.
func newStore(t *testing.T) *Store {
	t.Helper()
	s, err := own(Create(storetest.MemoryProject(t))) // what a sync costs is not tested
	rig.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	locked(t, s, "nobody", "spawn", storetest.SomeTime())()
	if _, err := s.keeper.Seal("test", nil); err != nil { // the user has a key
		t.Fatal(err)
	}
	return s
}

func record(handle agent.Handle) agent.Record {
	return agent.Record{
		Spec: agent.Spec{
			Schema: agent.Schema, Handle: handle, SessionID: aliceID, Model: "opus", ProjectRoot: "/srv/project",
		},
		TmuxSession: "nbs-" + string(handle) + "-live", Started: storetest.SomeTime(),
	}
}

// newStoreWith makes a project with one agent.
func newStoreWith(t *testing.T, handle agent.Handle) *Store {
	t.Helper()
	s := newStore(t)
	rig.Must(t, s.Insert(t.Context(), record(handle)))
	return s
}

// locked takes the verb lock of an agent.
func locked(t *testing.T, s *Store, handle agent.Handle, verb string, at time.Time) (unlock func()) {
	t.Helper()
	unlock, err := s.LockVerb(handle, verb, at)
	rig.Must(t, err)
	return unlock
}

// path is the path of something in .nbs.
func path(s *Store, names ...string) string {
	return filepath.Join(append([]string{s.Project(), ".nbs"}, names...)...)
}

func TestEverythingIsPrivate(t *testing.T) {
	t.Parallel()
	s := newStoreWith(t, "alice")
	defer locked(t, s, "alice", "spawn", storetest.SomeTime())()
	release, err := s.AcquireLease(aliceID, Holder{})
	rig.Must(t, err)
	defer release()
	rig.Must(t, s.PutLaunch("alice", Launch{Invocation: "i"}))
	rig.Must(t, s.journal.Append(t.Context(), journal.Event{Event: "spawn", Handle: "alice"}))
	rig.MustBePrivate(t, path(s), 10)
	storetest.WantText(t, path(s, ".gitignore"), "*\n")
}

func TestCreateLeavesWhatIsThere(t *testing.T) {
	t.Parallel()
	s := newStoreWith(t, "alice")
	again, err := own(Create(s.Project()))
	rig.Must(t, err)
	defer again.Close()
	defer locked(t, again, "alice", "resume", storetest.SomeTime())()
	_, err = again.Load("alice")
	rig.Check(t, err == nil, "%v", err)
}

// Whatever stands in the place of the list that git reads, its last line ignores all of .nbs, and
// nothing outside of it is written.
func TestVerbHasGitIgnoreTheFolder(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside")
	for what, c := range map[string]struct {
		plant func(at string) error
		want  string
	}{
		"nothing":         {func(string) error { return nil }, "*\n"},
		"it already":      {func(at string) error { return os.WriteFile(at, []byte("mine\n*\n\n"), 0o600) }, "mine\n*\n\n"},
		"a person's":      {func(at string) error { return os.WriteFile(at, []byte("mine"), 0o600) }, "mine\n*\n"},
		"a clone's":       {func(at string) error { return os.WriteFile(at, []byte("*\n!*\n"), 0o600) }, "*\n!*\n\n*\n"},
		"a link":          {func(at string) error { return os.Symlink(outside, at) }, "*\n"},
		"a dangling link": {func(at string) error { return os.Symlink(outside+".none", at) }, "*\n"},
		"a pipe":          {func(at string) error { return syscall.Mkfifo(at, 0o600) }, "*\n"},
	} {
		storetest.Write(t, outside, "untouched")
		s := newStoreWith(t, "alice")
		storetest.Must(errors.Join(os.RemoveAll(path(s, ".gitignore")), c.plant(path(s, ".gitignore"))))
		locked(t, s, "alice", "resume", storetest.SomeTime())()
		t.Log(what)
		storetest.WantText(t, path(s, ".gitignore"), c.want)
		storetest.WantText(t, outside, "untouched")
		_, err := os.Lstat(outside + ".none")
		rig.Check(t, os.IsNotExist(err), "%s: %v", what, err)
	}
}

// Only a project that is known not to have the agent has it not.
func TestHas(t *testing.T) {
	t.Parallel()
	s := newStoreWith(t, "alice")
	twice := newStoreWith(t, "alice")
	storetest.Write(t, path(twice, sessions, "Alice.json"), "{}")
	open := newStore(t)
	rig.Must(t, os.Chmod(path(open), 0o770))
	broken := newStore(t)
	rig.Must(t, os.RemoveAll(path(broken, sessions)))
	storetest.Write(t, path(broken, sessions), "")
	for what, c := range map[string]struct {
		project string
		handle  agent.Handle
		want    bool
	}{
		"it has it":           {s.Project(), "ALICE", true},
		"it has another":      {s.Project(), "bob", false},
		"no .nbs":             {t.TempDir(), "alice", false},
		"no folder":           {filepath.Join(t.TempDir(), "none"), "alice", false},
		"in two spellings":    {twice.Project(), "ALICE", true},
		"others can write it": {open.Project(), "alice", true},
		"no folder in it":     {broken.Project(), "alice", true},
	} {
		rig.Equal(t, Has(c.project, c.handle), c.want, "%s: has it", what)
	}
}

func TestFindLooksUpward(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	deep := filepath.Join(s.Project(), "a", "b")
	rig.Must(t, os.MkdirAll(deep, 0o700))
	for _, dir := range []string{s.Project(), filepath.Dir(deep), deep} {
		rig.Gives(t, s.Project(), "Find(%s)", dir)(Find(dir))
	}
	inner, err := Create(filepath.Dir(deep))
	rig.Must(t, err)
	defer inner.Close()
	rig.Gives(t, inner.Project(), "Find(%s)", deep)(Find(deep))
}

func TestWithoutProject(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := Find(dir)
	storetest.WantKind(t, "find", err, fail.NotFound)
	_, err = Open(dir)
	storetest.WantKind(t, "open", err, fail.NotFound)
	storetest.WantHint(t, err, "--root")
	s := Absent(dir)
	_, err = s.Load("alice")
	storetest.WantKind(t, "load", err, fail.NotFound)
	handles, err := s.Handles()
	rig.Check(t, len(handles) == 0 && err == nil, "Handles() = %v, %v", handles, err)
	rig.Must(t, s.CheckFree("alice"))
	if err := s.Insert(t.Context(), record("alice")); err == nil {
		t.Error("a record was written where there is no .nbs")
	}
	err = s.Close()
	rig.Check(t, err == nil, "%v", err)
	entries, _ := os.ReadDir(dir)
	rig.Check(t, len(entries) == 0, "looking has made %v", entries)
}

func TestOpenRefusesWhatOthersCanWrite(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"", "sessions", "locks", "status"} {
		for _, mode := range []fs.FileMode{0o770, 0o702, 0o777} {
			s := newStore(t)
			rig.Must(t, os.Chmod(path(s, folder), mode))
			for what, open := range map[string]func(string) (*Store, error){"open": Open, "create": Create} {
				_, err := open(s.Project())
				storetest.WantKind(t, what+" .nbs/"+folder, err, fail.BadInput)
				storetest.WantHint(t, err, "chmod 700 '"+path(s, folder))
			}
		}
	}
}

func TestOpenRefusesWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 { // only root can give a folder away; to others, / is somebody else's
		storetest.WantKind(t, "a folder of root", private.Check("/"), fail.BadInput)
		return
	}
	s := newStore(t)
	rig.Must(t, os.Chown(path(s), rig.Nobody, -1))
	_, err := own(Open(s.Project()))
	storetest.WantKind(t, "a folder of nobody", err, fail.BadInput)
}

func TestOpenRefusesWhatIsNoFolder(t *testing.T) {
	t.Parallel()
	real := newStoreWith(t, "alice")
	for what, plant := range map[string]func(at string) error{
		"link to a .nbs": func(at string) error { return os.Symlink(path(real), at) },
		"dangling link":  func(at string) error { return os.Symlink("/nonexistent/x", at) },
		"file":           func(at string) error { return os.WriteFile(at, nil, 0o600) },
	} {
		project := t.TempDir()
		rig.Must(t, plant(filepath.Join(project, ".nbs")))
		rig.Gives(t, project, "%s: Find passes it by", what)(Find(project))
		_, err := own(Open(project))
		storetest.WantKind(t, "open a "+what, err, fail.BadInput)
		_, err = own(Create(project))
		storetest.WantKind(t, "create at a "+what, err, fail.BadInput)
	}
}
