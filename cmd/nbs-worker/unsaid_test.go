package main

import (
	"strings"
	"testing"
)

// A first prompt that was never delivered is not dropped without a word when a resume brings
// another one.
func TestFirstPromptThatWasNeverDelivered(t *testing.T) {
	m := standIn(t)
	if r := m.nbsWith([]string{"NBS_SIM_CLAUDE=print-error=Error: the sky fell"}, "spawn", "alpha", "--prompt", "Remember 42."); r.code == 0 {
		t.Fatal(r)
	}
	r := m.nbs("resume", "alpha", "--prompt", "Remember 43.")
	if r.code != 0 || !strings.Contains(r.stderr, "alpha: its first prompt was never delivered, and the new one was sent in its place") {
		t.Error(r)
	}
	if kept := m.record("alpha")["initial_prompt"]; kept != "Remember 42." {
		t.Errorf("the record has %q", kept)
	}
	m.ok("stop", "alpha")
	if r := m.nbs("resume", "alpha", "--prompt", "What number?"); strings.Contains(r.stderr, "never delivered") {
		t.Error(r)
	}
}
