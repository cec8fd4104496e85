package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

func version(t *testing.T, s *stage) {
	out, _, code := s.run(t, "--version")
	rig.Check(t, out == s.version+" (Claude Code)\n" && code == 0, "--version = %q, code %d", out, code)
}

func firstPromptByArgument(t *testing.T, s *stage) {
	id := newID()
	before := time.Now()
	p := s.start(t, "--session-id", id, "--model", "sonnet", "--permission-mode", "default", "--", "Remember 42.")
	p.shows("OK, I will remember 42.")
	e := p.status("idle")

	rig.Check(t, e.SessionID == id && e.CWD == s.world.Project && e.PID == p.pid() && e.Version == s.subject.version, "registry = %+v", e)
	rig.Check(t, e.Kind == "interactive" && e.Entrypoint == "cli" && e.Name != "" && e.UpdatedAt != 0, "registry = %+v", e)
	at := time.UnixMilli(e.StartedAt)
	rig.Check(t, !at.Before(before.Add(-time.Second)) && !at.After(time.Now().Add(time.Second)), "startedAt = %v", at)
	want := startTicks(t, p.pid())
	rig.Check(t, e.ProcStart == want, "procStart = %s, /proc says %s", e.ProcStart, want)
	texts := s.asked(t)
	rig.Check(t, len(texts) == 1 && texts[0] == "Remember 42.", "asked %q", texts)
	last := s.api.Requests()[len(s.api.Requests())-1]
	rig.Check(t, last.SessionID == id && strings.HasPrefix(last.Model, "claude-sonnet-5"), "request of session %s, model %s", last.SessionID, last.Model)
	checkHistory(t, s, id, "Remember 42.")
	p.says("/exit")
	checkGraceful(t, p, 0)
	p.shows("Resume this session with:", "--resume "+id)
}

// startTicks is field 22 of /proc/<pid>/stat.
func startTicks(t *testing.T, pid int) string {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	rig.Must(t, err)
	_, rest, _ := strings.Cut(string(data), ") ")
	return strings.Fields(rest)[19]
}

func checkHistory(t *testing.T, s *stage, id, prompt string) {
	t.Helper()
	rig.WaitFor(t, "prompt is in history.jsonl", func() (bool, string) {
		data, err := os.ReadFile(filepath.Join(s.world.ConfigDir, "history.jsonl"))
		var line struct{ Display, Project, SessionID string }
		_ = json.Unmarshal(data, &line) // one line is expected
		return line.Display == prompt && line.Project == s.world.Project && line.SessionID == id, fmt.Sprintf("%s %v", data, err)
	})
}

func transcriptComesWithFirstPrompt(t *testing.T, s *stage) {
	id := newID()
	p := s.start(t, "--session-id", id, "--permission-mode", "default", "--allowedTools", "Bash")
	p.status("idle")
	if found := s.transcripts(t, id); len(found) != 0 {
		t.Fatalf("transcript before the first prompt: %v", found)
	}
	p.says("Remember 7.")
	p.shows("OK, I will remember 7.")
	p.status("idle")

	rig.WaitFor(t, "there is one transcript, in "+s.slug(), func() (bool, string) { // it may be written after the answer is shown
		found := s.transcripts(t, id)
		return len(found) == 1 && filepath.Base(filepath.Dir(found[0])) == s.slug(), fmt.Sprint(found)
	})
	checkTurns(t, s, id)
	checkClear(t, s, p, id)
	file := filepath.Join(s.world.Project, "made")
	p.status("idle")
	p.tmux("send-keys", "-l", "-t", p.name, fmt.Sprintf(`[[tool Bash {"command":"touch %s"}]]`, file))
	p.shows("project/made")
	p.takes("Enter", "the tool runs, for nobody is asked", func() bool { return strings.Contains(p.screen(), "Tool said:") })
	_, err := os.Stat(file)
	rig.Check(t, err == nil, "%v", err)
	p.status("idle")
	p.signal("INT")
	checkGraceful(t, p, 0)
}

func checkTurns(t *testing.T, s *stage, id string) {
	t.Helper()
	turns := s.answered(t, id)
	for _, r := range turns {
		rig.Check(t, r.UUID != "" && r.SessionID == id && r.CWD == s.world.Project && r.Version == s.subject.version && !r.IsSidechain, "record = %+v", r)
		_, err := time.Parse(time.RFC3339, r.Timestamp)
		rig.Check(t, err == nil && r.Message.Role == r.Type, "record = %+v: %v", r, err)
	}
	first := turns[0]
	rig.Check(t, first.ParentUUID == nil && string(first.Message.Content) == `"Remember 7."`, "first record = %+v %s", first, first.Message.Content)
	last := turns[len(turns)-1]
	rig.Check(t, last.ParentUUID != nil && last.Message.Usage.InputTokens != 0 && last.Message.Model != "", "last record = %+v", last)
}

func killAndResume(t *testing.T, s *stage) {
	id := newID()
	p := s.start(t, "--session-id", id, "--model", "sonnet", "--permission-mode", "default", "--", "Remember 42.")
	p.shows("OK, I will remember 42.")
	p.status("idle")
	s.answered(t, id) // a KILL before the transcript is written loses the turn
	pid := p.pid()
	p.signal("KILL")
	code := p.exits()
	rig.Check(t, code == 137, "exit code = %d", code)
	_, err := os.Stat(s.registryFile(pid))
	rig.Check(t, err == nil, "registry after KILL: %v", err)
	again := s.start(t, "--resume", id, "--model", "sonnet", "--permission-mode", "default", "--", "What number?")
	again.shows("● 42")
	e := again.status("idle")
	rig.Check(t, e.SessionID == id, "resumed as %s, want %s", e.SessionID, id)
	files := s.transcripts(t, "*")
	rig.Check(t, len(files) == 1, "transcripts = %v", files)
}

func checkGraceful(t *testing.T, p *pane, want int) {
	t.Helper()
	rig.Equal(t, p.exits(), want, "exit code")
	left := p.s.registered(t)
	rig.Check(t, len(left) == 0, "registry left behind: %v", left)
}

func exitByArgument(t *testing.T, s *stage) {
	id := newID()
	checkGraceful(t, s.start(t, "--session-id", id, "--permission-mode", "default", "--", "exit"), 0)
	// Under load 2.1.197 makes the file all the same; what counts is that nothing was said.
	for _, path := range s.transcripts(t, id) {
		text, err := os.ReadFile(path)
		if err != nil || bytes.Contains(text, []byte(`"type":"user"`)) || bytes.Contains(text, []byte(`"type":"assistant"`)) {
			t.Errorf("a turn in a session without one: %v\n%s", err, text)
		}
	}
}

// checkClear clears a conversation, which takes a new id.
func checkClear(t *testing.T, s *stage, p *pane, id string) {
	t.Helper()
	before, err := os.Stat(s.registryFile(p.pid()))
	rig.Must(t, err)
	p.says("/clear")
	var e entry
	rig.WaitFor(t, "a new session id", func() (bool, string) {
		e = p.status("idle")
		return e.SessionID != id, e.SessionID
	})
	after, err := os.Stat(s.registryFile(p.pid()))
	rig.Check(t, err == nil && os.SameFile(before, after), "the registry entry is another file, which who has it open does not see: %v", err)
	p.says("What number?")
	p.shows("I don't know any number.")
	if len(s.transcripts(t, id)) != 1 || len(s.transcripts(t, e.SessionID)) != 1 {
		t.Errorf("transcripts = %v", s.transcripts(t, "*"))
	}
	typed := time.Now()
	p.says("/resume " + id)
	rig.WaitFor(t, "the first session id", func() (bool, string) {
		e = p.status("idle")
		return e.SessionID == id, e.SessionID
	})
	rig.Check(t, e.UpdatedAt >= typed.UnixMilli(), "the entry was written at %d, and /resume typed at %d", e.UpdatedAt, typed.UnixMilli())
	p.says("What number? In the first one.")
	rig.WaitFor(t, "the first conversation", func() (bool, string) {
		_, said, _ := strings.Cut(p.screen(), "In the first one.")
		return strings.Contains(said, "● 7"), p.screen()
	})
}

func childSessionForgets(t *testing.T, s *stage) {
	s.paneEnv = []string{"CLAUDE_CODE_CHILD_SESSION=1"}
	forgets(t, s)
}

// unansweredMarkForgets has the mark of an agent's child in the environment of the tmux server, as when an agent's shell
// started that. Claude asks tmux whether everything in the server has it. If no answer comes in time, as on a busy
// machine, claude keeps nothing.
func unansweredMarkForgets(t *testing.T, s *stage) {
	tmux := filepath.Join(s.world.Root, "silent", "tmux")
	rig.Must(t, os.MkdirAll(filepath.Dir(tmux), 0o700))
	rig.Must(t, os.WriteFile(tmux, []byte("#!/bin/sh\nexit 1\n"), 0o700))
	s.env = append(s.env, "CLAUDE_CODE_CHILD_SESSION=1", "PATH="+filepath.Dir(tmux)+":/usr/bin:/bin")
	forgets(t, s)
}

func forgets(t *testing.T, s *stage) {
	t.Helper()
	p := s.start(t, "--session-id", newID(), "--permission-mode", "default", "--", "Remember 42.")
	p.shows("OK, I will remember 42.")
	p.signal("TERM") // writes what it has to write
	p.exits()
	left := append(s.registered(t), s.transcripts(t, "*")...)
	rig.Check(t, len(left) == 0, "a child of an agent wrote %v", left)
}
