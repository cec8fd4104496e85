package main

import (
	"strings"
	"testing"
)

// A machine in trouble: the truth is said, and nothing is lost.

func TestPromptThatClaudeDoesNotTake(t *testing.T) {
	m := real(t)
	m.refused(3, "the prompt was not in its transcript", "spawn", "alpha", "--timeout", "4s", "--prompt", "/no-such-command hi")
	m.ok("spawn", "beta", "--prompt", "/etc/passwd is what?")
	m.mustAnswer("beta", "You said: /etc/passwd")
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

// Another machine's record is not to be judged. The way out is the one that the hints name.
func TestRecordOfAnotherMachine(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha", "--prompt", "Remember 42.")
	m.ok("stop", "alpha")
	m.setRecord("alpha", func(fields map[string]any) {
		process(fields)["host"], process(fields)["boot_id"] = "elsewhere", "11111111-2222-4333-8444-555555555555"
	})
	m.forgetExits("alpha")
	if s := m.session("alpha"); s.State != "unknown" {
		t.Errorf("%+v", s)
	}
	id := m.record("alpha")["session_id"]
	m.pasteHints(m.refused(5, "cannot be told", "resume", "alpha"))
	if s := m.session("alpha"); s.SessionID != id || !s.Running {
		t.Errorf("%+v; before %v", s, id)
	}
}
