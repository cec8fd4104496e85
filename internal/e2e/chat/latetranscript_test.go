package chat

import (
	"os"
	"strings"
	"testing"
)

// Claude may ask for a permission before the prompt that led to it is in its transcript. A
// start has its prompt when it is there: until then a kill could lose it.

func TestFirstTurnThatAsksBeforeItIsWrittenDown(t *testing.T) {
	m := standIn(t, "late-transcript=500ms")
	r := m.NBS("spawn", "alpha", "--permission-mode", "default", "--prompt", `[[tool Bash {"command":"true"}]]`)
	if r.Code == 8 { // a busy machine looks first when the dialog is there: spawn has not said that it has the prompt
		m.MustSay(r.Stderr, "it asks for a permission", "hint: ") // requests or attach, by whether its hook has told yet
		return
	}
	m.Check(r.Code == 0 && r.Stdout == "alpha\n" && r.Stderr == "", "%s", r)
	s := m.Session("alpha")
	if s.State != "waiting" || s.Cause != "permission prompt" || s.Transcript == nil {
		t.Fatalf("%+v", s)
	}
	text, err := os.ReadFile(s.Transcript.Path)
	m.Check(err == nil && strings.Contains(string(text), "[[tool Bash "), "spawn has returned, and the prompt is not on disk: %v\n%s", err, text)
}
