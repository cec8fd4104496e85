package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What a dismiss removes of the conversations that the archive keeps, and what it spares.

func TestDismissRemovesWhatIsKept(t *testing.T) {
	m := standIn(t)
	alpha := m.remembers("alpha")
	m.ok("dismiss", "alpha")
	for _, path := range []string{m.keptPath(alpha.SessionID), m.inNbs("status", "alpha.json")} {
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("%s: %v", path, err)
		}
	}
	beta := m.remembers("beta")
	var said struct {
		Kept []string `json:"kept_transcripts"`
	}
	if err := json.Unmarshal([]byte(m.ok("dismiss", "beta", "--keep", "--json")), &said); err != nil || len(said.Kept) != 1 || said.Kept[0] != m.keptPath(beta.SessionID) {
		t.Errorf("%+v, %v", said, err)
	}
	// Claude deletes its own one day.
	for _, s := range []session{alpha, beta} {
		if err := os.Remove(s.Transcript.Path); err != nil {
			t.Fatal(err)
		}
	}
	m.refused(2, "no conversation "+alpha.SessionID, "spawn", "alpha", "--session-id", alpha.SessionID)
	r := m.nbs("spawn", "beta", "--model", "sonnet", "--session-id", beta.SessionID, "--prompt", "What number?")
	if r.code != 0 || !strings.Contains(r.stderr, "was put back from") {
		t.Error(r)
	}
	m.mustAnswer("beta", "42")
}

// What is the last of a conversation, or another agent's, is not removed.
func TestDismissSparesTheLastAndOthers(t *testing.T) {
	m := standIn(t)
	alpha, beta := m.remembers("alpha"), m.remembers("beta")
	m.setRecord("beta", func(fields map[string]any) {
		fields["previous_sessions"] = []map[string]string{{"session_id": alpha.SessionID, "until": "2026-01-01T00:00:00Z", "reason": "clear"}}
	})
	m.allow("beta")
	m.ok("dismiss", "alpha")
	m.mustBeKept(alpha.SessionID, alpha.Transcript.Path)
	if err := os.Remove(beta.Transcript.Path); err != nil {
		t.Fatal(err)
	}
	r := m.nbs("dismiss", "beta")
	if r.code != 0 || !strings.Contains(r.stderr, "its transcript stays: "+m.keptPath(beta.SessionID)) {
		t.Error(r)
	}
	if _, err := os.Lstat(m.keptPath(alpha.SessionID)); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
}

// Claude's file has only what was said since; what came before is nowhere but in the archive.
func TestDismissSparesTheBeginningThatClaudeLost(t *testing.T) {
	m := real(t)
	before := m.remembers("alpha")
	m.loseInTheMiddle("alpha", before)
	r := m.nbs("dismiss", "alpha")
	if r.code != 0 || !strings.Contains(r.stderr, "its transcript stays: ") {
		t.Error(r)
	}
	kept, _ := filepath.Glob(m.inState("transcripts", before.SessionID+"*.jsonl"))
	if !slices.ContainsFunc(kept, func(path string) bool { return strings.Contains(read(t, path), "Remember 42.") }) {
		t.Errorf("the beginning is lost; kept: %q", kept)
	}
}
