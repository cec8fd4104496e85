package store

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// plantLink puts a link in place of a file in .nbs, to a file outside, and checks at
// the end of the test that nobody followed it.
func plantLink(t *testing.T, s *Store, names ...string) {
	t.Helper()
	storetest.Plant(t, path(s, names...))
}

func TestPlantedRecordIsRefused(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	plantLink(t, s, "sessions", "alice.json")
	_, err := s.Load("alice")
	storetest.WantKind(t, "load", err, fail.BadInput)
	storetest.WantKind(t, "insert", s.Insert(t.Context(), record("alice")), fail.Conflict)
	_, err = s.Update(t.Context(), "alice", func(*agent.Record) error { return nil })
	storetest.WantKind(t, "update", err, fail.BadInput)
}

func TestPlantedFolderIsRefused(t *testing.T) {
	t.Parallel()
	for _, folder := range folders {
		s := newStore(t)
		outside := t.TempDir()
		rig.Must(t, os.RemoveAll(path(s, folder)))
		rig.Must(t, os.Symlink(outside, path(s, folder)))
		_, err := Open(s.Project())
		storetest.WantKind(t, folder, err, fail.BadInput)
		entries, _ := os.ReadDir(outside)
		rig.Check(t, len(entries) == 0, "%s: written outside: %v", folder, entries)
	}
}

// A temporary file of a killed writer, whatever is in it, is no record.
func TestLeftoverOfAKilledWriterIsNoRecord(t *testing.T) {
	t.Parallel()
	s := newStoreWith(t, "alice")
	storetest.Write(t, path(s, "sessions", ".alice.json1234567"), `{"handle":`)
	plantLink(t, s, "sessions", ".bob.json")
	handles, err := s.Handles()
	rig.Check(t, len(handles) == 1 && err == nil, "Handles() = %v, %v; want alice", handles, err)
}

// A link that stays inside .nbs leads nowhere either, and a FIFO keeps nobody waiting.
func TestPlantedFilesInsideTheFolder(t *testing.T) {
	t.Parallel()
	for what, plant := range map[string]func(at, alice string) error{
		"link to a record": func(at, alice string) error { return os.Symlink(alice, at) },
		"FIFO":             func(at, _ string) error { return syscall.Mkfifo(at, 0o600) },
		"socket":           func(at, _ string) error { return syscall.Mknod(at, syscall.S_IFSOCK|0o600, 0) },
	} {
		s := newStoreWith(t, "alice")
		before := storetest.Read(t, path(s, sessions, "alice.json"))
		mustMake(t, s.launches())
		for at, alice := range map[string]string{path(s, "sessions/bob.json"): "alice.json", s.journal.Path(): "sessions/alice.json", s.launches().Path("bob.i.json"): path(s, "sessions/alice.json")} {
			rig.Must(t, plant(at, alice))
		}
		_, err := s.Load("bob")
		storetest.WantKind(t, what+": load", err, fail.BadInput)
		err = s.journal.Append(t.Context(), noted("alice", aliceID))
		rig.Check(t, err != nil && strings.Contains(err.Error(), ".nbs/journal.jsonl: not a regular file"), "%s: append: %v", what, err)
		rig.Equal(t, s.journal.LastSessionID("alice"), "", "%s: the journal names", what)
		_, err = s.TakeLaunch("bob", "i")
		rig.Check(t, err != nil && strings.Contains(err.Error(), "not a regular file"), "%s: launch: %v", what, err)
		rig.Check(t, storetest.Read(t, path(s, sessions, "alice.json")) == before, "%s: the record was changed", what)
	}
}

// Another process may have the temporary name first: it is not written through.
func TestPlantedTemporaryFileIsNotFollowed(t *testing.T) {
	t.Parallel()
	s := newStoreWith(t, "alice")
	for i := range 50 {
		plantLink(t, s, "sessions", ".alice.json"+strconv.Itoa(i))
	}
	defer locked(t, s, "alice", "stop", time.Now())()
	_, err := s.Update(t.Context(), "alice", func(*agent.Record) error { return nil })
	rig.Check(t, err == nil, "%v", err)
	got := storetest.Names(t, path(s, sessions))
	rig.Check(t, len(got) == 1, "left are %v", got)
}
