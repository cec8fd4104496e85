package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A machine in trouble: the truth is said, and nothing is lost.

func TestStoppedTmuxServerHidesNobody(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	claude := m.session("alpha").RecordedPID
	m.stopServer("alpha")
	begun := time.Now()
	m.mustSay(m.refused(3, "the tmux server was silent for ", "list", "--json").stdout, `"handle":"alpha","state":"idle"`)
	m.mustSay(m.refused(3, "", "session", "alpha").stdout, "unknown: tmux did not answer", "running (verified)")
	r := m.nbs("resume", "alpha")
	m.check(r.code != 0, "%s", r)
	m.refused(3, "", "stop", "alpha")
	m.check(dead(claude), "claude lives")
	took := time.Since(begun)
	m.check(took <= 30*time.Second, "four verbs took %s", took)
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
	m.mustBe("alpha", "stopped")
	m.ok("resume", "alpha")
	m.ok("stop", "alpha")
	m.setRecord("alpha", elsewhere)
	m.forgetExits("alpha")
	m.mustBe("alpha", "unknown")
	id := m.record("alpha")["session_id"]
	m.refused(5, "cannot be told", "resume", "alpha", "--force")
	// The way out that the hints name.
	m.pasteHints(m.refused(5, "cannot be told", "resume", "alpha"))
	s := m.session("alpha")
	m.check(s.SessionID == id && s.Running, "%+v; before %v", s, id)
}

// Who is told of a failure after the record was written is told that it was, also when
// it is the journal that failed.
func TestSpawnThatCannotBeJournalledKeepsItsRecord(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "beta", "--no-wait")
	journal := m.inNbs("journal.jsonl")
	m.inTheWay("journal.jsonl")
	r := m.refused(1, "spawn alpha: open .nbs/journal.jsonl: not a regular file", "spawn", "alpha", "--prompt", "Remember 42.")
	m.mustSay(r.stderr, "hint: its record is kept: nbs-worker resume alpha tries again, nbs-worker dismiss alpha removes it\n",
		"hint: look at what it is, then move it aside: mv '"+journal+"' '")
	id := m.record("alpha")["session_id"]
	m.must(os.Remove(journal))
	m.ok("resume", "alpha")
	m.mustAnswer("alpha", "OK, I will remember 42.")
	m.check(m.session("alpha").SessionID == id, "%+v; before %v", m.session("alpha"), id)
}

func TestSecretsOfAKilledVerbAreRemoved(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	launch := m.launchFolder()
	left := []string{filepath.Join(launch, "alpha.json"), filepath.Join(launch, ".alpha.json123")}
	m.putAt(left[0], `{"env":"c2VjcmV0"}`, 0)
	m.putAt(left[1], `{"env":"c2VjcmV0"}`, time.Hour)
	m.ok("stop", "alpha")
	m.check(len(m.launchFiles()) == 0, "left: %q", m.launchFiles())
}

// A full or read-only disk must not keep the agent alive that fills it.
func TestStopEndsClaudeThoughTheRecordCannotBeWritten(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	pid := m.session("alpha").RecordedPID
	// A folder in the place of the record's lock: no write goes through.
	m.inTheWay("locks", "alpha.record")
	r := m.nbs("stop", "alpha")
	m.check(r.code != 0 && dead(pid), "claude is dead: %t; %s", dead(pid), r)
}
