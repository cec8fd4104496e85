package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/archive"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/trust"
)

func mustPutLaunch(t *testing.T, s *Store) {
	t.Helper()
	rig.Must(t, s.PutLaunch("alice", secretLaunch))
}

// putTranscript writes alice's transcript.
func putTranscript(t *testing.T, s *Store) (at string) {
	t.Helper()
	at = filepath.Join(s.Project(), string(aliceID)+".jsonl")
	storetest.Write(t, at, "one\ntwo\n")
	return at
}

// withKept is a store whose archive has alice's transcript.
func withKept(t *testing.T) (s *Store, transcript string) {
	t.Helper()
	s = newStore(t)
	transcript = putTranscript(t, s)
	rig.Must(t, s.archive.Keep(t.Context(), aliceID, transcript))
	return s, transcript
}

// Whatever the umask, what is kept outside of the project is for this user alone, and nothing
// of it is in the project.
func TestWhatIsKeptOutsideOfTheProjectIsPrivate(t *testing.T) {
	t.Parallel()
	s, _ := withKept(t)
	noteSession(t, s, "alice", aliceID)
	mustPutLaunch(t, s)
	for folder, least := range map[private.Tree]int{s.kept(): 1, s.heads(): 1, s.launches(): 1} {
		rig.MustBePrivate(t, string(folder), least)
	}
}

// Each verb that needs a folder outside of the project refuses one that others can look into.
func TestFolderThatIsNotThisUsersAloneIsRefused(t *testing.T) {
	t.Parallel()
	s, transcript := withKept(t)
	noteSession(t, s, "alice", aliceID)
	mustPutLaunch(t, s)
	for _, folder := range []private.Tree{s.kept(), s.heads(), s.launches()} {
		storetest.Must(os.Chmod(string(folder), 0o750))
	}
	_, kept := s.archive.Kept(aliceID)
	_, taken := s.TakeLaunch("alice", secretLaunch.Invocation)
	for verb, err := range map[string]error{
		"what is kept":                   kept,
		"keep":                           s.archive.Keep(t.Context(), aliceID, transcript),
		"append":                         s.journal.Append(t.Context(), noted("bob", otherID)),
		"put a launch":                   s.PutLaunch("alice", secretLaunch),
		"take a launch":                  taken,
		"a verb that will end something": s.CheckWritable(t.Context(), "alice", aliceID, Launch{}),
	} {
		rig.Check(t, err != nil && len(fail.HintsOf(err)) != 0, "%s: %v, hints %q", verb, err, fail.HintsOf(err))
	}
}

// Without a folder for the user's state looking works, and what has to be written there says so.
func TestWithoutAStateFolder(t *testing.T) {
	t.Parallel()
	s := newStoreWith(t, "alice")
	transcript := putTranscript(t, s)
	s.keeper = nil
	s.UseHome("")
	if _, err := s.Load("alice"); err != nil {
		t.Error(err)
	}
	rig.Gives(t, archive.NotKept, "kept")(s.archive.Freshness(aliceID, transcript))
	if v, err := s.journal.Verify(); v.Broken != nil || err != nil {
		t.Error(v.Broken, err)
	}
	err := s.DropLaunch("alice")
	rig.Check(t, err == nil, "%v", err)
	storetest.WantKind(t, "keep", s.archive.Keep(t.Context(), aliceID, transcript), fail.Unfit)
	storetest.WantKind(t, "append", s.journal.Append(t.Context(), noted("alice", aliceID)), fail.Unfit)
	storetest.WantKind(t, "put a launch", s.PutLaunch("alice", secretLaunch), fail.Unfit)
	storetest.WantKind(t, "a verb that will end something", s.CheckWritable(t.Context(), "alice", aliceID, Launch{}), fail.Unfit)
}

// What one project keeps the other finds, and neither takes from the other what it has not had.
func TestProjectsShareTheArchive(t *testing.T) {
	t.Parallel()
	s, _ := withKept(t)
	other := newStore(t)
	other.UseHome(s.Home())
	kept, err := other.archive.Kept(aliceID)
	rig.Check(t, err == nil && len(kept) == 1, "%+v, %v", kept, err)
	rig.Must(t, other.archive.Remove(otherID))
	unlock, err := other.LockVerb("bob", "spawn", time.Now().AddDate(1, 0, 0)) // which sweeps
	rig.Must(t, err)
	unlock()
	kept, err = s.archive.Kept(aliceID)
	rig.Check(t, err == nil && len(kept) == 1, "%+v, %v", kept, err)
	rig.Check(t, s.launches() != other.launches() && s.ProjectHash() != other.ProjectHash(), "two projects share more than the archive")
}

// Launch files are where the caller says if that is private, else in the state folder.
func TestRuntimeFolder(t *testing.T) {
	t.Parallel()
	home := trust.Home(filepath.Join(t.TempDir(), "home"))
	private, open := t.TempDir(), t.TempDir()
	storetest.Must(os.Chmod(private, 0o700))
	storetest.Must(os.Chmod(open, 0o755))
	for _, c := range []struct {
		env  []string
		want string
	}{
		{nil, home.Path("run")},
		{[]string{"XDG_RUNTIME_DIR=" + private}, private + "/nbs-worker"},
		{[]string{"XDG_RUNTIME_DIR=" + open}, home.Path("run")},
		{[]string{"XDG_RUNTIME_DIR=run"}, home.Path("run")},
		{[]string{"XDG_RUNTIME_DIR=" + private + "/nothing"}, home.Path("run")},
		{[]string{"XDG_RUNTIME_DIR=" + open, "NBS_RUNTIME=" + private + "/nbs-worker"}, private + "/nbs-worker"},
		{[]string{"XDG_RUNTIME_DIR=" + private, "NBS_RUNTIME=" + open + "/nbs-worker"}, private + "/nbs-worker"},
	} {
		rig.Equal(t, trust.RuntimeOf(c.env, home), c.want, "%q", c.env)
	}
	rig.Equal(t, trust.RuntimeOf(nil, ""), "", "without a home")
}

// Of two launchers' folders the one that the verb has named is looked into.
func TestLaunchIsFoundWhereTheVerbLeftIt(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	runtime := t.TempDir()
	storetest.Must(os.Chmod(runtime, 0o700))
	s.RunIn(filepath.Join(runtime, "nbs-worker"))
	mustPutLaunch(t, s)
	launcher, err := own(Open(s.Project()))
	rig.Must(t, err)
	defer launcher.Close()
	_, err = launcher.TakeLaunch("alice", secretLaunch.Invocation)
	rig.Check(t, fail.KindOf(err) == fail.Conflict, "elsewhere: %v", err)
	launcher.RunIn(s.Runtime())
	_, err = launcher.TakeLaunch("alice", secretLaunch.Invocation)
	rig.Check(t, err == nil, "%v", err)
	rig.Check(t, strings.HasPrefix(string(s.launches()), runtime), "launches are in %s", s.launches())
}
