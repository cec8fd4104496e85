package contract

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// checkSessionIDTwice asserts that the id of a conversation cannot begin another one.
func checkSessionIDTwice(t *testing.T, s *stage, id string) {
	t.Helper()
	want := "Error: Session ID " + id + " is already in use."
	out, stderr, code := s.run(t, "-p", "--output-format", "json", "--session-id", id, "--", "Remember 43.")
	rig.Check(t, strings.TrimSpace(stderr) == want && out == "" && code == 1, "-p: %q %q %d", out, stderr, code)
	p := s.start(t, "--session-id", id, "--permission-mode", "default")
	code = p.exits()
	rig.Check(t, code == 1, "terminal: code %d", code)
	p.shows(want)
}

func resumeUnknown(t *testing.T, s *stage) {
	id := newID()
	want := "No conversation found with session ID: " + id
	out, stderr, code := s.run(t, "-p", "--resume", id, "--", "What number?")
	rig.Check(t, strings.TrimSpace(stderr) == want && out == "" && code == 1, "-p: %q %q %d", out, stderr, code)
	p := s.start(t, "--resume", id, "--permission-mode", "default")
	code = p.exits()
	rig.Check(t, code == 1, "terminal: code %d", code)
	p.shows(want)
	left := s.registered(t)
	rig.Check(t, len(left) == 0, "registry left behind: %v", left)
}

// A program that is killed before it has written the first prompt leaves a file with which nothing can be done: it
// cannot be resumed, and its id is taken.
func fileWithoutConversation(t *testing.T, s *stage) {
	for name, text := range map[string]string{"empty": "", "no prompt yet": `{"type":"mode","mode":"normal"}` + "\n"} {
		id := newID()
		s.put(t, id, text)
		_, stderr, code := s.run(t, "-p", "--resume", id, "--", "What number?")
		rig.Check(t, code == 1 && strings.Contains(stderr, "No conversation found with session ID: "+id), "%s: resume: %q %d", name, stderr, code)
		_, stderr, code = s.run(t, "-p", "--session-id", id, "--", "Remember 42.")
		rig.Check(t, code == 1 && strings.Contains(stderr, "is already in use."), "%s: session id: %q %d", name, stderr, code)
	}
}

// put writes the transcript of a conversation.
func (s *stage) put(t *testing.T, id, text string) {
	t.Helper()
	dir := filepath.Join(s.world.ConfigDir, "projects", s.slug())
	rig.Must(t, errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(text), 0o600)))
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
		rig.Check(t, strings.TrimSpace(stderr) == want && out == "" && code == 1, "%q: %q %q %d", args, out, stderr, code)
	}
}

func rootMayNotBypass(t *testing.T, s *stage) {
	s.env = s.world.Env(append(s.subject.env, "IS_SANDBOX")...)
	for _, flags := range [][]string{{"--dangerously-skip-permissions"}, {"--permission-mode", "bypassPermissions"}} {
		out, stderr, code := s.run(t, append(flags, "-p", "--", "hello")...)
		if os.Geteuid() != 0 {
			rig.Check(t, code == 0, "not root, %q: %q %q %d", flags, out, stderr, code)
			continue
		}
		want := "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons"
		rig.Check(t, strings.TrimSpace(stderr) == want && out == "" && code == 1, "%q: %q %q %d", flags, out, stderr, code)
	}
}
