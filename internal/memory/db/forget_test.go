package db

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// files is what is in the database and beside it, byte by byte.
func files(t *testing.T, d *Database) string {
	t.Helper()
	dir := filepath.Dir(d.path)
	var b strings.Builder
	for _, name := range storetest.Names(t, dir) {
		b.WriteString(storetest.Read(t, filepath.Join(dir, name)))
	}
	return b.String()
}

// What is forgotten is not found any more, by nobody who reads the file either.
func TestForgetLeavesNothing(t *testing.T) {
	t.Parallel()
	d := watched(t)
	keep(t, d, alice, 1, "r", by(watcher, "keep the aardvark"), by(watcher, "forget the zeppelin"))
	rig.Check(t, strings.Contains(files(t, d), "zeppelin"), "it is not in the files")
	rig.Must(t, d.Forget(t.Context(), 2))
	storetest.WantKind(t, "to forget it twice", d.Forget(t.Context(), 2), fail.NotFound)
	rig.Same(t, "what is remembered", []string{"keep the aardvark"}, titles(t, d, memory.Query{}))
	found, err := d.Search(t.Context(), memory.Query{Text: "zeppelin"})
	rig.Check(t, err == nil && len(found) == 0, "%v, %v", found, err)
	left := files(t, d)
	rig.Check(t, !strings.Contains(left, "zeppelin") && strings.Contains(left, "aardvark"), "the files hold the forgotten, or not what was kept")
	keep(t, d, alice, 2, "r", by(watcher, "another"))
	_, err = d.Get(t.Context(), 2)
	storetest.WantKind(t, "the number of what was forgotten", err, fail.NotFound)
	mustBeWhole(t, d)
}

func TestForgetHandleTakesAllOfOneAgent(t *testing.T) {
	t.Parallel()
	d := remembered(t)
	third := agent.NewSessionID()
	rig.Must(t, d.Create(t.Context(), memory.Observed{ContentID: third, Handle: "alice", Created: time.Now().Add(time.Second)})) // they come in the order of their times
	gone, n, err := d.ForgetHandle(t.Context(), "Alice")
	rig.Check(t, err == nil && n == 2 && len(gone) == 2 && gone[0].MemoryID == watcher && gone[1].ContentID == third, "%+v, %d, %v", gone, n, err)
	_, err = d.Observed(t.Context(), alice)
	storetest.WantKind(t, "the conversation", err, fail.NotFound)
	rig.Same(t, "what is remembered", []string{"Look at the index again"}, titles(t, d, memory.Query{}))
	rig.Check(t, !strings.Contains(files(t, d), "nginx"), "the files hold what is forgotten")
	mustBeWhole(t, d)
	gone, n, err = d.ForgetHandle(t.Context(), "alice")
	rig.Check(t, err == nil && n == 0 && len(gone) == 0, "again: %+v, %d, %v", gone, n, err)
}
