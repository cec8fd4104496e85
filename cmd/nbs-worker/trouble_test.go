package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A machine in trouble: the truth is said, and nothing is lost.

func TestPromptThatClaudeDoesNotTake(t *testing.T) {
	m := real(t)
	m.refused(3, "the prompt was not in its transcript", "spawn", "alpha", "--timeout", "15s", "--prompt", "/no-such-command hi")
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
	s := m.session("alpha")
	m.check(s.State == "unknown", "%+v", s)
	id := m.record("alpha")["session_id"]
	m.pasteHints(m.refused(5, "cannot be told", "resume", "alpha"))
	s = m.session("alpha")
	m.check(s.SessionID == id && s.Running, "%+v; before %v", s, id)
}

// claudeTrouble is what a user sees of a claude that does not do what it should.
type claudeTrouble struct {
	whims  string // of the stand-in
	script string // in the place of claude
	env    []string
	args   []string // after "spawn alpha"
	code   int
	line   string // the first line, or its beginning
	hint   string
	runs   bool // claude, afterwards
}

// Side by side: no two of them look alike, and each code is the published one.
var claudeTroubles = map[string]claudeTrouble{
	"slow start": {
		whims: "start-delay=30s", args: []string{"--timeout", "1s"}, code: 3, runs: true,
		line: "nbs-worker: spawn alpha: claude was started and was not ready after 1s; it was left running",
		hint: "look at it: nbs-worker attach alpha",
	},
	"slow start that is waited for": {whims: "start-delay=2s", code: 0, runs: true},
	"dies after four seconds": {
		whims: "no-registry,die-after=4s", code: 1,
		line: "nbs-worker: spawn alpha: claude left before it was ready (code 1)",
		hint: "its record is kept: nbs-worker resume alpha tries again",
	},
	"prints an error and leaves": {
		whims: "print-error=Error: the sky fell", code: 1,
		line: "nbs-worker: spawn alpha: claude left before it was ready (code 1): Error: the sky fell",
	},
	"opens a dialog": {
		whims: "dialog=trust", code: 8, runs: true,
		line: "nbs-worker: spawn alpha: claude waits at a dialog: it asks whether it trusts the folder (trust)",
		hint: "answer it there: nbs-worker attach alpha",
	},
	"is not installed": {
		env: []string{"NBS_CLAUDE="}, code: 6,
		line: "nbs-worker: spawn alpha: claude is not on the PATH",
		hint: "install Claude Code",
	},
	"is not where it is said to be": {
		env: []string{"NBS_CLAUDE=/nowhere/claude"}, code: 6,
		line: `nbs-worker: spawn alpha: NBS_CLAUDE="/nowhere/claude" cannot be run`,
		hint: "unset NBS_CLAUDE",
	},
	"is too old for --session-id": {
		script: `echo "error: unknown option '--session-id'" >&2; exit 1`, code: 6,
		line: "nbs-worker: spawn alpha: claude left before it was ready (code 1): error: unknown option '--session-id'",
		hint: "it is too old: Claude Code 2.1.197 or newer is needed",
	},
	"gets an option of the user's that it does not know": {
		args: []string{"--", "--no-such-option"}, code: 4,
		line: "nbs-worker: spawn alpha: claude left before it was ready (code 1): error: unknown option '--no-such-option'",
	},
	"is older than tested, and works": {
		whims: "version=2.1.100", code: 0, runs: true,
		line: `hint: claude "2.1.100" is older than any that nbs-worker is tested with`,
	},
	"is something else, which leaves": {
		script: `echo "usage: claude FILE"`, code: 1,
		line: "nbs-worker: spawn alpha: claude left before it was ready (code 0): usage: claude FILE",
	},
	"is something else, which hangs": {
		script: `exec cat`, args: []string{"--timeout", "2s"}, code: 3, runs: true,
		line: "nbs-worker: spawn alpha: claude was started and was not ready after 2s; it was left running",
		hint: "is it Claude Code at all? ",
	},
	"writes no transcript": {
		whims: "no-transcript", args: []string{"--prompt", "Remember 42.", "--timeout", "2s"}, code: 3, runs: true,
		line: "nbs-worker: spawn alpha: claude is ready, but the prompt was not in its transcript after 2s",
		hint: "look at it: nbs-worker attach alpha",
	},
}

func TestClaudeInTrouble(t *testing.T) {
	t.Parallel()
	for name, c := range claudeTroubles {
		t.Run(name, func(t *testing.T) {
			m := standIn(t, c.whims)
			m.env = append(m.env, c.env...)
			if c.script != "" {
				m.env = append(m.env, "NBS_CLAUDE="+m.script(c.script))
			}
			if name == "is not installed" {
				m.env = append(m.env, "PATH="+m.pathWithout("claude"))
			}
			r := m.nbs(append([]string{"spawn", "alpha"}, c.args...)...)
			first, _, _ := strings.Cut(r.stderr, "\n")
			m.check(r.code == c.code && strings.HasPrefix(first, c.line) && strings.Contains(r.stderr, c.hint), "want code %d, %q and %q, got %s", c.code, c.line, c.hint, r)
			m.check((r.code == 0) == (r.stdout == "alpha\n"), "stdout and code differ: %s", r)
			if !exists(m.recordPath("alpha")) {
				m.check(c.code == 6 && c.script == "", "no record")
				return
			}
			s := m.session("alpha")
			m.check(s.Running == c.runs, "does it run? %+v", s)
			m.ok("dismiss", "alpha") // whatever claude did, it can be ended
		})
	}
}

// What is only seen later: at the end, or when the agent is to come back.
func TestClaudeInTroubleLater(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	m.ok("stop", "alpha")
	m.must(os.Truncate(before.Transcript.Path, 0))
	record := m.recordText("alpha")
	r := m.refused(2, "is empty now", "resume", "alpha")
	m.check(strings.Contains(r.stderr, "nbs-worker resume alpha --fresh") && m.recordText("alpha") == record, "%v", r)
	// One that was never spoken to has nothing to lose: an empty transcript is a stub.
	m.ok("spawn", "beta", "--model", "sonnet")
	s := m.session("beta")
	m.ok("stop", "beta")
	stub := strings.Replace(before.Transcript.Path, before.SessionID, s.SessionID, 1)
	m.write(stub, "")
	m.ok("resume", "beta", "--prompt", "Remember 42.")
	m.mustAnswer("beta", "OK, I will remember 42.")
	after := m.session("beta")
	m.check(after.SessionID == s.SessionID, "before %+v\nafter %+v", s, after)
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
