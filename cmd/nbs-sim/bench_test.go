package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/sim/bench"
)

func TestBenchTableGoesIntoTheReadme(t *testing.T) {
	dir := t.TempDir()
	kept, readme := filepath.Join(dir, "bench.json"), filepath.Join(dir, "README.md")
	if out, err := sim(t, "bench", "--out", kept, "--readme", readme).CombinedOutput(); err == nil || !strings.Contains(string(out), kept) {
		t.Errorf("without a result: %v\n%s", err, out)
	}
	result := bench.Result{Checks: []bench.Check{{Name: "wake-ups", Measured: "7", Budget: "none", Missed: true}}}
	if err := result.Save(kept); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(readme, []byte("<!-- bench -->\n<!-- /bench -->\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := sim(t, "bench", "--out", kept, "--readme", readme).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if text, err := os.ReadFile(readme); err != nil || !strings.Contains(string(text), "| wake-ups |") {
		t.Errorf("%v\n%s", err, text)
	}
}
