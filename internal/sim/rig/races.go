package rig

import (
	"os"
	"path/filepath"
	"testing"
)

// raceLog begins the names of the files into which our programs write what the race detector found, when they were
// built with it.
const raceLog = "race"

// raceOptions is the variable that such programs read; others ignore it. Without atexit_sleep_ms=0 they would sleep for
// a second before each exit, and tests check how long a verb takes.
func raceOptions(root string) string {
	return "GORACE=atexit_sleep_ms=0 log_path=" + filepath.Join(root, raceLog)
}

// reportRaces fails the test for each race that was found in a program of ours.
func reportRaces(t testing.TB, root string) {
	t.Helper()
	logs, _ := filepath.Glob(filepath.Join(root, raceLog+".*")) // the pattern is well formed
	for _, log := range logs {
		if text, err := os.ReadFile(log); err == nil {
			t.Errorf("a data race in a program of ours:\n%s", text)
		}
	}
}
