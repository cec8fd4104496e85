package db

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// fileCalls are the system calls by which SQLite changes files, others than the rest of the program. Between a write and
// the sync behind it the database is the same, but for what its processes share in memory.
var fileCalls = []string{"openat", "open", "pwrite64", "fsync", "ftruncate", "linkat", "unlinkat", "unlink"}

// A database that is being made is there whole or not at all.
func TestKilledCreateLeavesAWholeDatabaseOrNone(t *testing.T) {
	t.Parallel()
	seen := map[bool]int{}
	points := rig.EachKill(t, fileCalls, func() (*exec.Cmd, func(bool)) {
		path := filepath.Join(rig.MemoryDir(t), "memory.db")
		return rig.Command(path), func(killed bool) {
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
	t.Logf("whole %d, none %d", seen[true], seen[false])
	rig.Check(t, points >= 20 && seen[true] > 0 && seen[false] > 0, "%d points: %v", points, seen)
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
