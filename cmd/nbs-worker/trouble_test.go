package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A machine in trouble: the truth is said, and nothing is lost.

func TestStoppedTmuxServerHidesNobody(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	server, claude := m.serverPID(), m.session("alpha").RecordedPID
	m.kill(server, syscall.SIGSTOP)
	defer m.kill(server, syscall.SIGCONT)
	begun := time.Now()
	r := m.nbs("list", "--json")
	if r.code != 3 || !strings.Contains(r.stdout, `"handle":"alpha","state":"idle"`) || !strings.Contains(r.stderr, "the tmux server was silent for ") {
		t.Error(r)
	}
	if r := m.nbs("session", "alpha"); r.code != 3 || !strings.Contains(r.stdout, "unknown: tmux did not answer") || !strings.Contains(r.stdout, "running (verified)") {
		t.Error(r)
	}
	if r := m.nbs("resume", "alpha"); r.code == 0 {
		t.Error(r)
	}
	if r := m.nbs("stop", "alpha"); r.code != 3 || !dead(claude) {
		t.Errorf("claude is dead: %t; %s", dead(claude), r)
	}
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("four verbs took %s", took)
	}
}

func TestPromptThatClaudeDoesNotTake(t *testing.T) {
	m := real(t)
	m.refused(3, "the prompt was not in its transcript", "spawn", "alpha", "--timeout", "4s", "--prompt", "/no-such-command hi")
	m.ok("spawn", "beta", "--prompt", "/etc/passwd is what?")
	m.mustAnswer("beta", "You said: /etc/passwd")
}

func TestVariablesThatWouldMakeTheRecordUntrueAreRefused(t *testing.T) {
	m := standIn(t)
	for _, name := range []string{"CLAUDE_CONFIG_DIR", "HOME", "CLAUDE_CODE_CHILD_SESSION", "NBS_ROOT"} {
		m.refused(4, "variable "+name+" cannot be set", "spawn", "alpha", "--env", name+"=/x")
	}
	m.ok("spawn", "alpha")
	m.ok("stop", "alpha")
	m.setRecord("alpha", func(fields map[string]any) { fields["env"] = map[string]string{"HOME": "/x"} })
	m.allow("alpha")
	m.refused(4, "variable HOME cannot be set", "resume", "alpha")
	m.setRecord("alpha", func(fields map[string]any) {
		fields["env"] = map[string]string{}
		fields["claude_args"] = []string{"--dangerously-skip-permissions"}
	})
	m.allow("alpha")
	m.refused(4, "is set by nbs-worker itself", "resume", "alpha")
}

func TestClaudeThatLeavesAtOnceIsNotStarted(t *testing.T) {
	m := standIn(t)
	m.env = append(m.env, "NBS_CLAUDE="+m.script("exit 3"))
	m.refused(1, "claude left before it was ready (code 3)", "spawn", "beta")
	if hasty := m.nbs("spawn", "alpha", "--no-wait"); hasty.code == 0 { // it ran when it was looked at
		m.waitState("alpha", "crashed")
	} else if hasty.code != 1 || !strings.Contains(hasty.stderr, "claude left before it was ready (code 3)") {
		t.Errorf("%s", hasty)
	}
}

// An exit that a launcher saw holds wherever it ran; without one, another machine's
// record is not to be judged.
func TestRecordOfAnotherMachine(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha", "--prompt", "Remember 42.")
	m.ok("stop", "alpha")
	elsewhere := func(fields map[string]any) {
		process(fields)["host"], process(fields)["boot_id"] = "elsewhere", "11111111-2222-4333-8444-555555555555"
	}
	m.setRecord("alpha", elsewhere)
	if s := m.session("alpha"); s.State != "stopped" {
		t.Errorf("%+v", s)
	}
	m.ok("resume", "alpha")
	m.ok("stop", "alpha")
	m.setRecord("alpha", elsewhere)
	m.forgetExits("alpha")
	if s := m.session("alpha"); s.State != "unknown" {
		t.Errorf("%+v", s)
	}
	id := m.record("alpha")["session_id"]
	m.refused(5, "cannot be told", "resume", "alpha", "--force")
	// The way out that the hints name.
	m.pasteHints(m.refused(5, "cannot be told", "resume", "alpha"))
	if s := m.session("alpha"); s.SessionID != id || !s.Running {
		t.Errorf("%+v; before %v", s, id)
	}
}

// Who is told of a failure after the record was written is told that it was, also when
// it is the journal that failed.
func TestSpawnThatCannotBeJournalledKeepsItsRecord(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "beta", "--no-wait")
	journal := m.inNbs("journal.jsonl")
	m.must(os.Rename(journal, journal+".whole"))
	m.must(os.Mkdir(journal, 0o700))
	r := m.refused(1, "spawn alpha: open .nbs/journal.jsonl: not a regular file", "spawn", "alpha", "--prompt", "Remember 42.")
	for _, hint := range []string{
		"hint: its record is kept: nbs-worker resume alpha tries again, nbs-worker dismiss alpha removes it\n",
		"hint: look at what it is, then move it aside: mv '" + journal + "' '",
	} {
		if !strings.Contains(r.stderr, hint) {
			t.Errorf("no %q: %s", hint, r)
		}
	}
	id := m.record("alpha")["session_id"]
	m.must(os.Remove(journal))
	m.ok("resume", "alpha")
	m.mustAnswer("alpha", "OK, I will remember 42.")
	if s := m.session("alpha"); s.SessionID != id {
		t.Errorf("%+v; before %v", s, id)
	}
}

func TestSecretsOfAKilledVerbAreRemoved(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	launch := m.launchFolder()
	left := []string{filepath.Join(launch, "alpha.json"), filepath.Join(launch, ".alpha.json123")}
	for _, path := range left {
		m.must(os.WriteFile(path, []byte(`{"env":"c2VjcmV0"}`), 0o600))
	}
	old := time.Now().Add(-time.Hour)
	m.must(os.Chtimes(left[1], old, old))
	m.ok("stop", "alpha")
	if left := m.launchFiles(); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// A full or read-only disk must not keep the agent alive that fills it.
func TestStopEndsClaudeThoughTheRecordCannotBeWritten(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	pid := m.session("alpha").RecordedPID
	// A folder in the place of the record's lock: no write goes through.
	lock := m.inNbs("locks", "alpha.record")
	m.must(os.Remove(lock))
	m.must(os.Mkdir(lock, 0o700))
	if r := m.nbs("stop", "alpha"); r.code == 0 || !dead(pid) {
		t.Errorf("claude is dead: %t; %s", dead(pid), r)
	}
}
