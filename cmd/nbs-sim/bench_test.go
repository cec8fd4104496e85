package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/sim/bench"

	"nbs-worker/internal/sim/rig"
)

func TestBenchTableGoesIntoTheReadme(t *testing.T) {
	dir := t.TempDir()
	kept, readme := filepath.Join(dir, "bench.json"), filepath.Join(dir, "README.md")
	out, err := sim(t, "bench", "--out", kept, "--readme", readme).CombinedOutput()
	rig.Check(t, err != nil && strings.Contains(string(out), kept), "without a result: %v\n%s", err, out)
	result := bench.Result{Checks: []bench.Check{{Name: "wake-ups", Measured: "7", Budget: "none", Missed: true}}}
	rig.Must(t, result.Save(kept))
	rig.Must(t, os.WriteFile(readme, []byte("<!-- bench -->\n<!-- /bench -->\n"), 0o600))
	out, err = sim(t, "bench", "--out", kept, "--readme", readme).CombinedOutput()
	rig.Check(t, err == nil, "%v\n%s", err, out)
	if text, err := os.ReadFile(readme); err != nil || !strings.Contains(string(text), "| wake-ups |") {
		t.Errorf("%v\n%s", err, text)
	}
}
