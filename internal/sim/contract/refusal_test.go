package contract

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func sessionIDTwice(t *testing.T, s *stage) {
	id := newID()
	if out, stderr, code := s.run(t, "-p", "--session-id", id, "--", "Remember 42."); code != 0 {
		t.Fatalf("first: %q %q %d", out, stderr, code)
	}
	want := "Error: Session ID " + id + " is already in use."
	out, stderr, code := s.run(t, "-p", "--output-format", "json", "--session-id", id, "--", "Remember 43.")
	if strings.TrimSpace(stderr) != want || out != "" || code != 1 {
		t.Errorf("-p: %q %q %d", out, stderr, code)
	}
	p := s.start(t, "--session-id", id, "--permission-mode", "default")
	if code := p.exits(); code != 1 {
		t.Errorf("terminal: code %d", code)
	}
	p.shows(want)
}

func resumeUnknown(t *testing.T, s *stage) {
	id := newID()
	want := "No conversation found with session ID: " + id
	out, stderr, code := s.run(t, "-p", "--resume", id, "--", "What number?")
	if strings.TrimSpace(stderr) != want || out != "" || code != 1 {
		t.Errorf("-p: %q %q %d", out, stderr, code)
	}
	p := s.start(t, "--resume", id, "--permission-mode", "default")
	if code := p.exits(); code != 1 {
		t.Errorf("terminal: code %d", code)
	}
	p.shows(want)
	if left := s.registered(t); len(left) != 0 {
		t.Errorf("registry left behind: %v", left)
	}
}

// A program that is killed before it has written the first prompt leaves a file with which nothing can be done: it
// cannot be resumed, and its id is taken.
func fileWithoutConversation(t *testing.T, s *stage) {
	for name, text := range map[string]string{"empty": "", "no prompt yet": `{"type":"mode","mode":"normal"}` + "\n"} {
		id := newID()
		dir := filepath.Join(s.world.ConfigDir, "projects", s.slug())
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, stderr, code := s.run(t, "-p", "--resume", id, "--", "What number?"); code != 1 || !strings.Contains(stderr, "No conversation found with session ID: "+id) {
			t.Errorf("%s: resume: %q %d", name, stderr, code)
		}
		if _, stderr, code := s.run(t, "-p", "--session-id", id, "--", "Remember 42."); code != 1 || !strings.Contains(stderr, "is already in use.") {
			t.Errorf("%s: session id: %q %d", name, stderr, code)
		}
	}
}

func badArguments(t *testing.T, s *stage) {
	modes := "acceptEdits, auto, bypassPermissions, manual, dontAsk, plan"
	both := "Error: --session-id with --continue or --resume also needs --fork-session."
	if s.old {
		modes = "acceptEdits, auto, bypassPermissions, default, dontAsk, plan"
		both = "Error: --session-id can only be used with --continue or --resume if --fork-session is also specified."
	}
	cases := map[string][]string{
		"Error: Invalid session ID. Must be a valid UUID.":                                                         {"--session-id", "nonsense"},
		"error: option '--permission-mode <mode>' argument 'bogus' is invalid. Allowed choices are " + modes + ".": {"--permission-mode", "bogus"},
		both: {"--session-id", newID(), "--resume", newID()},
	}
	for want, args := range cases {
		out, stderr, code := s.run(t, append(append([]string{"-p"}, args...), "--", "hello")...)
		if strings.TrimSpace(stderr) != want || out != "" || code != 1 {
			t.Errorf("%q: %q %q %d", args, out, stderr, code)
		}
	}
}

func rootMayNotBypass(t *testing.T, s *stage) {
	s.env = s.world.Env(append(s.subject.env, "IS_SANDBOX")...)
	for _, flags := range [][]string{{"--dangerously-skip-permissions"}, {"--permission-mode", "bypassPermissions"}} {
		out, stderr, code := s.run(t, append(flags, "-p", "--", "hello")...)
		if os.Geteuid() != 0 {
			if code != 0 {
				t.Errorf("not root, %q: %q %q %d", flags, out, stderr, code)
			}
			continue
		}
		want := "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons"
		if strings.TrimSpace(stderr) != want || out != "" || code != 1 {
			t.Errorf("%q: %q %q %d", flags, out, stderr, code)
		}
	}
}

func unknownCommand(t *testing.T, s *stage) {
	p := s.start(t, "--session-id", newID(), "--permission-mode", "default", "--", "/nosuch x")
	p.shows("Unknown command: /nosuch")
	p.status("idle")
	for _, r := range s.api.Requests() {
		if r.Method == "POST" {
			t.Errorf("a command was said to the model: %q", r.Texts)
		}
	}
}
