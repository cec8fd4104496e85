package rig

import (
	"os"
	"path/filepath"
	"testing"
)

// raceLog begins the names of the files into which programs of ours that were built
// under the race detector write what it found; see GORACE. Others ignore the variable.
const raceLog = "race"

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
