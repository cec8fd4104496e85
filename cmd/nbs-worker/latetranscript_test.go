package main

import (
	"os"
	"strings"
	"testing"
)

// Claude may ask for a permission before the prompt that led to it is in its transcript. A
// start has its prompt when it is there: until then a kill could lose it.

const asksAtOnce = `[[tool Bash {"command":"true"}]]`

func (m *team) spawnThatAsks() result {
	m.Helper()
	return m.nbs("spawn", "alpha", "--permission-mode", "default", "--prompt", asksAtOnce)
}

func TestFirstTurnThatAsksBeforeItIsWrittenDown(t *testing.T) {
	m := standIn(t, "late-transcript=500ms")
	if r := m.spawnThatAsks(); r.code != 0 || r.stdout != "alpha\n" || r.stderr != "" {
		t.Fatal(r)
	}
	s := m.session("alpha")
	if s.State != "waiting" || s.Cause != "permission prompt" || s.Transcript == nil {
		t.Fatalf("%+v", s)
	}
	if text, err := os.ReadFile(s.Transcript.Path); err != nil || !strings.Contains(string(text), "[[tool Bash ") {
		t.Errorf("spawn has returned, and the prompt is not on disk: %v\n%s", err, text)
	}
}

func TestFirstTurnThatAsksAndIsNeverWrittenDown(t *testing.T) {
	m := standIn(t, "no-transcript")
	r := m.spawnThatAsks()
	m.mustRefuse(r, 8, "claude waits for a person (permission prompt), and the prompt is not in its transcript\nhint: answer it there: nbs-worker attach alpha\n")
	if s := m.session("alpha"); r.stdout != "" || s.State != "waiting" || s.Transcript != nil {
		t.Errorf("%s\n%+v", r, s)
	}
}
