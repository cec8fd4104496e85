package contract

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

func print(t *testing.T, s *stage) {
	id := newID()
	out, stderr, code := s.run(t, "-p", "--output-format", "json", "--session-id", id, "--model", "haiku", "--permission-mode", "default", "--", "Remember 42.")
	var r struct {
		Type, Subtype, Result string
		SessionID             string `json:"session_id"`
		IsError               bool   `json:"is_error"`
		NumTurns              int    `json:"num_turns"`
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 {
		t.Fatalf("%q %q %d: %v", out, stderr, code, err)
	}
	if r.Type != "result" || r.Subtype != "success" || r.IsError || r.SessionID != id || r.Result != "OK, I will remember 42." || r.NumTurns != 1 {
		t.Errorf("result = %+v", r)
	}
	out, stderr, code = s.run(t, "-p", "--resume", id, "--", "What number?")
	rig.Check(t, out == "42\n" && code == 0, "resumed: %q %q %d", out, stderr, code)
	requests := s.api.Requests()
	model := requests[len(requests)-1].Model
	rig.Check(t, strings.HasPrefix(model, "claude-haiku"), "resumed without --model: %s", model)
	resumeFromElsewhere(t, s, id)
	checkSessionIDTwice(t, s, id)
	left := s.registered(t)
	rig.Check(t, len(left) == 0, "registry left behind: %v", left)
}

func resumeFromElsewhere(t *testing.T, s *stage, id string) {
	t.Helper()
	below := filepath.Join(s.world.Project, "below")
	rig.Must(t, os.Mkdir(below, 0o700))
	out, stderr, code := s.runIn(t, below, "-p", "--resume", id, "--", "What number?")
	if s.old {
		rig.Check(t, code == 1 && strings.Contains(stderr, "No conversation found with session ID: "+id), "older program, from below: %q %q %d", out, stderr, code)
		return
	}
	rig.Check(t, out == "42\n" && code == 0, "from below: %q %q %d", out, stderr, code)
	files := s.transcripts(t, id)
	rig.Check(t, len(files) == 1, "transcripts = %v", files)
}

// printFailed begins a conversation with a turn that fails. The code is 1, but the conversation is there.
func printFailed(t *testing.T, s *stage, id string) {
	t.Helper()
	out, stderr, code := s.run(t, "-p", "--output-format", "json", "--session-id", id, "--model", "sonnet", "--", "Remember 42. [[error 429]]")
	var r struct {
		Subtype   string
		IsError   bool   `json:"is_error"`
		SessionID string `json:"session_id"`
		Status    int    `json:"api_error_status"`
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%q %q %d: %v", out, stderr, code, err)
	}
	rig.Check(t, code == 1 && r.Subtype == "success" && r.IsError && r.SessionID == id && r.Status == 429, "code %d, result %+v", code, r)
}
