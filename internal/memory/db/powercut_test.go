package db

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"nbs-worker/internal/memory"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// Power cuts, as the store's: see [rig.Disk]. A writer stores an observation in each turn, whose number it
// says when it is stored.

func TestPowerCutLosesNoObservationThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	rig.CutAtRandom(t, "count-up", lost)
}

// Right after a turn was stored a missing sync shows: with the setting that SQLite advises for such a log it
// would be lost.
func TestPowerCutRightAfterEachObservation(t *testing.T) {
	t.Parallel()
	for role, loses := range map[string]bool{"count-up": false, "count-up-without-sync": true} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			losses := rig.LossesOf(t, role, lost)
			rig.Check(t, (losses > 0) == loses, "%d of 5 cuts lost something", losses)
		})
	}
}

// lost says what is lost of the database in a folder, when a number was said. It opens a copy: SQLite puts
// back in order what it opens.
func lost(project string, said int) string {
	dir, err := os.MkdirTemp("/dev/shm", "nbs")
	storetest.Must(err)
	defer os.RemoveAll(dir) //nolint:errcheck // in memory
	for _, name := range []string{"memory.db", "memory.db-wal"} {
		if text, err := os.ReadFile(filepath.Join(project, name)); err == nil {
			storetest.Must(os.WriteFile(filepath.Join(dir, name), text, 0o600))
		}
	}
	ctx := context.Background()
	d, err := Open(ctx, filepath.Join(dir, "memory.db"))
	if err != nil {
		return fmt.Sprintf("%d was said: %v", said, err)
	}
	defer d.Close()
	wrong, err := d.Check(ctx)
	o, err2 := d.Observed(ctx, alice)
	all, err3 := d.Latest(ctx, memory.Query{Limit: 1_000_000})
	there, _ := strconv.Atoi(o.ReadTo)
	if err != nil || err2 != nil || err3 != nil || len(wrong) > 0 || len(all) != there || there < said {
		return fmt.Sprintf("%d was said, %d observations are there, read to %q: %q, %v, %v, %v", said, len(all), o.ReadTo, wrong, err, err2, err3)
	}
	return ""
}

// countUp plays the writer; stepwise, it waits for a byte before each turn.
func countUp(ctx context.Context, role, project string, stepwise bool) error {
	if err := os.MkdirAll(project, 0o700); err != nil {
		return err
	}
	d, err := Create(ctx, filepath.Join(project, "memory.db"), anyInstance)
	if err != nil {
		return err
	}
	if role == "count-up-without-sync" {
		if d.sql, err = sql.Open("sqlite", strings.Replace(source(d.path, settings), "synchronous%28full%29", "synchronous%28normal%29", 1)); err != nil {
			return err
		}
	}
	if err := d.Create(ctx, memory.Observed{ContentID: alice, Handle: "alice"}); err != nil {
		return err
	}
	if err := d.Capture(ctx, alice, watcher); err != nil {
		return err
	}
	words := bufio.NewReader(os.Stdin)
	for n := 1; ; n++ {
		if stepwise {
			if _, err := words.ReadByte(); err != nil {
				return nil //nolint:nilerr // the test has ended
			}
		}
		number := strconv.Itoa(n)
		if _, err := d.Store(ctx, alice, n, []memory.Observation{by(watcher, number)}, number); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

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
