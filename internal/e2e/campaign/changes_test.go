package campaign

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"nbs-worker/internal/sim/rig"
)

// changes counts changes of files.
type changes struct{ watcher *fsnotify.Watcher }

// watchChanges watches the folders that match a pattern. One that is not there yet has no changes.
func watchChanges(t testing.TB, patterns ...string) changes {
	t.Helper()
	watcher, err := fsnotify.NewWatcher()
	rig.Must(t, err)
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern)
		for _, dir := range found {
			if info, err := os.Stat(dir); err == nil && info.IsDir() {
				_ = watcher.Add(dir) // it may be gone meanwhile
			}
		}
	}
	return changes{watcher}
}

// await waits for a number of changes, or for a time; which of the two is zero does not count. It returns false if the
// changes were closed first.
func (c changes) await(number int, pause time.Duration) bool {
	var over <-chan time.Time
	if pause > 0 {
		over = time.After(pause)
	}
	for seen := 0; number == 0 || seen < number; {
		select {
		case event, open := <-c.watcher.Events:
			if !open {
				return false
			}
			if !event.Has(fsnotify.Chmod) {
				seen++
			}
		case <-over:
			return true
		}
	}
	return true
}

func (c changes) close() { _ = c.watcher.Close() }
