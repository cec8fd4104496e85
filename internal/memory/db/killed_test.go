package db

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/memory"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// fileCalls are the system calls by which SQLite changes files, others than the rest of the program. Between a write and
// the sync behind it the database is the same, but for what its processes share in memory.
var fileCalls = []string{"openat", "open", "pwrite64", "fsync", "ftruncate", "linkat", "unlinkat", "unlink"}

// A process is killed before each system call by which it could change a file, from the capture of a new id
// to the end of a turn: the turn is stored, or it is not, and nothing belongs to an id that nobody has.
func TestKilledBetweenCaptureAndInsert(t *testing.T) {
	t.Parallel()
	dir := rig.MemoryDir(t)
	template, err := Create(t.Context(), filepath.Join(dir, "template.db"), anyInstance)
	rig.Must(t, err)
	observe(t, template, "alice", alice, watcher)
	keep(t, template, alice, 1, "record-1", by(watcher, "first"))
	rig.Must(t, template.Close())
	before := storetest.Read(t, template.path)
	seen := map[string]int{}
	kills := rig.EachKill(t, fileCalls, func() (*exec.Cmd, func(bool)) {
		path := filepath.Join(dir, "memory.db")
		for _, suffix := range []string{"", "-wal", "-shm"} {
			_ = os.Remove(path + suffix)
		}
		storetest.Write(t, path, before)
		return rig.Command("observe", path), func(killed bool) {
			found := afterKill(t, path)
			seen[found]++
			rig.Check(t, killed || strings.HasPrefix(found, "stored"), "it was not killed, and is %s", found)
		}
	})
	t.Logf("%d kills: %v", kills, seen)
	rig.Check(t, kills >= 40 && len(seen) == 3 && seen["not captured"] > 0 && seen["captured"] > 0 && seen["stored"] > 0, "%d kills, seen: %v", kills, seen)
}

// afterKill says in which of the three states a database is, and checks that it is wholly in it, and that the
// next who works goes on from there.
func afterKill(t *testing.T, path string) (state string) {
	t.Helper()
	d, err := Open(t.Context(), path)
	rig.Must(t, err)
	mustBeWhole(t, d)
	o := mustObserved(t, d, alice)
	list := strings.Join(titles(t, d, memory.Query{}), " ")
	switch {
	case o.MemoryID == watcher && o.ReadTo == "record-1" && list == "first":
		state = "not captured"
	case o.MemoryID == newWatcher && o.ReadTo == "record-1" && list == "first":
		state = "captured"
	case o.MemoryID == newWatcher && o.ReadTo == "record-2" && list == "third second first":
		state = "stored"
	default:
		t.Errorf("%+v, %q", o, list)
	}
	rig.Must(t, d.Close())
	rig.Must(t, observeAnew(t.Context(), path))
	d, err = Open(t.Context(), path)
	rig.Must(t, err)
	rig.Equal(t, strings.Join(titles(t, d, memory.Query{}), " "), "third second first", "after the next time")
	rig.Must(t, d.Close())
	return state
}

// A database that is being made is there whole or not at all.
func TestKilledCreateLeavesAWholeDatabaseOrNone(t *testing.T) {
	t.Parallel()
	seen := map[bool]int{}
	kills := rig.EachKill(t, fileCalls, func() (*exec.Cmd, func(bool)) {
		path := filepath.Join(rig.MemoryDir(t), "memory.db")
		return rig.Command("create", path), func(killed bool) {
			_, err := os.Stat(path)
			rig.Check(t, err == nil || killed, "%v", err)
			seen[err == nil]++
			age(t, filepath.Dir(path))
			d, err := Create(t.Context(), path, anyInstance)
			rig.Must(t, err)
			rig.Check(t, d.Instance() != "", "it has no id")
			mustBeWhole(t, d)
			rig.Must(t, d.Close())
			storetest.WantNames(t, filepath.Dir(path), "memory.db")
		}
	})
	t.Logf("%d kills: whole %d, none %d", kills, seen[true], seen[false])
	rig.Check(t, kills >= 20 && seen[true] > 0 && seen[false] > 0, "%d kills: %v", kills, seen)
}

// age makes what was left half written two hours old.
func age(t *testing.T, dir string) {
	t.Helper()
	for _, name := range storetest.Names(t, dir) {
		if before := time.Now().Add(-2 * time.Hour); strings.Contains(name, unfinished) {
			rig.Must(t, os.Chtimes(filepath.Join(dir, name), before, before))
		}
	}
}

// A backup removes what one before it was killed at, and nothing else: another may be at work, and the user has files too.
func TestBackupThatWasKilledIsSwept(t *testing.T) {
	t.Parallel()
	d, dir := watched(t), rig.MemoryDir(t)
	for _, name := range []string{".copy" + unfinished + "1", ".copy" + unfinished + "1-wal", ".copy.20260220", ".other" + unfinished + "1"} {
		storetest.Write(t, filepath.Join(dir, name), "half")
	}
	age(t, dir)
	storetest.Write(t, filepath.Join(dir, ".copy"+unfinished+"2"), "half")
	rig.Must(t, d.Backup(t.Context(), filepath.Join(dir, "copy")))
	storetest.WantNames(t, dir, ".copy.20260220", ".copy"+unfinished+"2", ".other"+unfinished+"1", "copy")
}
