package db

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m, play)) }

// Two conversations of an agent and their observers.
const (
	alice      = storetest.AliceID
	other      = storetest.OtherID
	watcher    = agent.SessionID("a0000000-0000-4000-8000-000000000001")
	newWatcher = agent.SessionID("a0000000-0000-4000-8000-000000000002")
)

// made is a new database in memory, so that a sync costs nothing.
func made(t testing.TB) *Database {
	t.Helper()
	return opened(t, filepath.Join(rig.MemoryDir(t), "memory.db"))
}

func opened(t testing.TB, path string) *Database {
	t.Helper()
	d, err := Create(t.Context(), path, anyInstance)
	rig.Must(t, err)
	t.Cleanup(func() { rig.Must(t, d.Close()) })
	return d
}

// watched is a new database in which alice's conversation has an observer.
func watched(t testing.TB) *Database {
	t.Helper()
	d := made(t)
	observe(t, d, "alice", alice, watcher)
	return d
}

func observe(t testing.TB, d *Database, handle agent.Handle, content, memoryID agent.SessionID) {
	t.Helper()
	rig.Must(t, d.Create(t.Context(), memory.Observed{ContentID: content, Handle: handle}))
	rig.Must(t, d.Capture(t.Context(), content, memoryID))
}

func by(memoryID agent.SessionID, title string) memory.Observation {
	return memory.Observation{MemoryID: memoryID, Type: memory.Decision, Title: title}
}

func keep(t testing.TB, d *Database, content agent.SessionID, turn int, readTo string, all ...memory.Observation) {
	t.Helper()
	n, err := d.Store(t.Context(), content, turn, all, readTo)
	rig.Check(t, err == nil && n == len(all), "%d of %d stored: %v", n, len(all), err)
}

func mustObserved(t testing.TB, d *Database, content agent.SessionID) memory.Observed {
	t.Helper()
	o, err := d.Observed(t.Context(), content)
	rig.Must(t, err)
	return o
}

func titles(t testing.TB, d *Database, q memory.Query) []string {
	t.Helper()
	all, err := d.Latest(t.Context(), q)
	rig.Must(t, err)
	return titlesOf(all)
}

func titlesOf(all []memory.Observation) []string {
	list := []string{}
	for _, o := range all {
		list = append(list, o.Title)
	}
	return list
}

func mustBeWhole(t testing.TB, d *Database) {
	t.Helper()
	wrong, err := d.Check(t.Context(), everyone)
	rig.Check(t, err == nil && len(wrong) == 0, "the check says %q, %v", wrong, err)
}

// play is another process that makes and uses a database.
func play(role []string) {
	ctx := context.Background()
	d, err := Create(ctx, role[0], anyInstance)
	end(err)
	_, err = d.Spend(ctx, "2026-02-20", 1) // the first use is what makes SQLite change over to its log
	end(errors.Join(err, d.Close()))
}

func end(err error) {
	if err != nil {
		fmt.Println(err, fail.HintsOf(err))
		os.Exit(1)
	}
}

// minute is a time of the tests.
func minute(n int) time.Time { return storetest.SomeTime().Add(time.Duration(n) * time.Minute) }

func anyInstance(string) error { return nil }

func everyone(agent.Handle) bool { return true }
