package db

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"nbs-worker/internal/memory"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// On a full disk nothing is stored by halves, what is there stays readable, and it goes on when there is room.
func TestFullDiskKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(rig.ShortDir(t), "disk")
	rig.PrivateMounts(t).Tmpfs(dir, "1m")
	ballast := filepath.Join(dir, "ballast")
	storetest.Write(t, ballast, strings.Repeat("x", 300_000))
	d := opened(t, filepath.Join(dir, "memory.db"))
	observe(t, d, "alice", alice, watcher)
	n := 0
	var err error
	for err == nil {
		n++
		o := by(watcher, strconv.Itoa(n))
		o.Narrative = strings.Repeat(strconv.Itoa(n)+" ", 1000)
		_, err = d.Store(t.Context(), alice, n, []memory.Observation{o}, o.Title)
	}
	t.Logf("turn %d: %v", n, err)
	rig.Check(t, n > 10, "only %d turns have room", n)
	storetest.WantHint(t, err, "df -h '"+dir+"'")
	rig.Equal(t, mustObserved(t, d, alice).ReadTo, strconv.Itoa(n-1), "read to")
	rig.Equal(t, len(titles(t, d, memory.Query{Limit: 1000})), n-1, "observations")
	rig.Must(t, os.Remove(ballast))
	keep(t, d, alice, n, "on", by(watcher, "there is room"))
	mustBeWhole(t, d)
}
