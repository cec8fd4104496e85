package rig

import (
	"os"
	"path/filepath"
	"testing"
)

// raceLog begins the names of the files into which programs of ours that were built
// under the race detector write what it found. Others ignore the variable.
const raceLog = "race"

// raceOptions are the variable for such programs. They would sleep for a second before each
// exit, and a test asks whether a verb takes longer than it may.
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
