package life

import (
	"strings"
	"testing"
)

// A machine in trouble: the truth is said, and nothing is lost.

func TestClaudeThatLeavesAtOnceIsNotStarted(t *testing.T) {
	m := standIn(t)
	m.Env = append(m.Env, "NBS_CLAUDE="+m.Script("exit 3"))
	m.Refused(1, "claude exited before it was ready (code 3)", "spawn", "beta")
	if hasty := m.NBS("spawn", "alpha", "--no-wait"); hasty.Code == 0 { // it ran when it was looked at
		m.WaitState("alpha", "crashed")
	} else if hasty.Code != 1 || !strings.Contains(hasty.Stderr, "claude exited before it was ready (code 3)") {
		t.Errorf("%s", hasty)
	}
}

// claudeTrouble is what a user sees of a claude that does not do what it should.
type claudeTrouble struct {
	whims  string   // of the stand-in
	script string   // in the place of claude
	args   []string // after "spawn alpha"
	code   int
	line   string // the first line, or its beginning
	says   []string
	runs   bool // claude, afterwards
}

// Side by side: no two of them look alike, and each code is the published one.
var claudeTroubles = map[string]claudeTrouble{
	"slow start": {
		whims: "start-delay=1h", args: []string{"--timeout", "1s"}, code: 3, runs: true,
		line: "nbs-worker: spawn alpha: claude was not ready after 1s, and was left running",
		says: []string{" runs, it is not in Claude's registry yet, its screen ", "hint: to wait for it: nbs-worker wait alpha --for ready,waiting --timeout 5m"},
	},
	"slow start that is waited for": {whims: "start-delay=2s", code: 0, runs: true},
	"dies after four seconds": {
		whims: "no-registry,die-after=4s", code: 1,
		line: "nbs-worker: spawn alpha: claude exited before it was ready (code 1)",
		says: []string{"its record is kept: nbs-worker resume alpha tries again"},
	},
	"prints an error and leaves": {
		whims: "print-error=Error: the sky fell", code: 1,
		line: "nbs-worker: spawn alpha: claude exited before it was ready (code 1): Error: the sky fell",
	},
	"opens a dialog": {
		whims: "dialog=trust", code: 8, runs: true,
		line: "nbs-worker: spawn alpha: claude waits at a dialog: it asks whether it trusts the folder (trust)",
		says: []string{"answer it in its terminal: nbs-worker attach alpha"},
	},
	"is too old for --session-id": {
		script: `echo "error: unknown option '--session-id'" >&2; exit 1`, code: 6,
		line: "nbs-worker: spawn alpha: claude exited before it was ready (code 1): error: unknown option '--session-id'",
		says: []string{"claude is too old: version 2.1.197 or newer is needed"},
	},
	"gets an option of the user's that it does not know": {
		args: []string{"--", "--no-such-option"}, code: 4,
		line: "nbs-worker: spawn alpha: claude exited before it was ready (code 1): error: unknown option '--no-such-option'",
	},
	"is older than tested, and works": {
		whims: "version=2.1.100", code: 0, runs: true,
		line: `hint: claude "2.1.100" is older than the versions that nbs-worker is tested with`,
	},
	"is something else, which leaves": {
		script: `echo "usage: claude FILE"`, code: 1,
		line: "nbs-worker: spawn alpha: claude exited before it was ready (code 0): usage: claude FILE",
	},
	"is something else, which hangs": {
		script: `exec cat`, args: []string{"--timeout", "2s"}, code: 3, runs: true,
		line: "nbs-worker: spawn alpha: claude was not ready after 2s, and was left running",
		says: []string{"check that it is Claude Code: "},
	},
	"takes the prompt for a command": {
		args: []string{"--prompt", "/no-such-command hi", "--timeout", "2s"}, code: 3, runs: true,
		line: "nbs-worker: spawn alpha: claude is ready, but the prompt was not in its transcript after 2s",
	},
	"writes no transcript": {
		whims: "no-transcript", args: []string{"--prompt", "Remember 42.", "--timeout", "2s"}, code: 3, runs: true,
		line: "nbs-worker: spawn alpha: claude is ready, but the prompt was not in its transcript after 2s",
		says: []string{"look at it: nbs-worker attach alpha"},
	},
}

func TestClaudeInTrouble(t *testing.T) {
	t.Parallel()
	for name, c := range claudeTroubles {
		t.Run(name, func(t *testing.T) {
			m := standIn(t, c.whims)
			if c.script != "" {
				m.Env = append(m.Env, "NBS_CLAUDE="+m.Script(c.script))
			}
			r := m.NBS(append([]string{"spawn", "alpha"}, c.args...)...)
			first, _, _ := strings.Cut(r.Stderr, "\n")
			m.Check(r.Code == c.code && strings.HasPrefix(first, c.line), "want code %d and %q, got %s", c.code, c.line, r)
			m.MustSay(r.Stderr, c.says...)
			m.Check((r.Code == 0) == (r.Stdout == "alpha\n"), "stdout and code differ: %s", r)
			s := m.Session("alpha")
			m.Check(s.Running == c.runs, "does it run? %+v", s)
			m.OK("dismiss", "alpha") // whatever claude did, it can be ended
		})
	}
}

// One that was never spoken to has nothing to lose: an empty transcript is a stub.
func TestEmptyTranscriptOfAnAgentThatWasNotSpokenTo(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.OK("spawn", "beta", "--model", "sonnet")
	s := m.Session("beta")
	m.OK("stop", "beta")
	stub := strings.Replace(before.Transcript.Path, before.SessionID, s.SessionID, 1)
	m.Write(stub, "")
	m.OK("resume", "beta", "--prompt", "Remember 42.")
	m.MustAnswer("beta", "OK, I will remember 42.")
	after := m.Session("beta")
	m.Check(after.SessionID == s.SessionID, "before %+v\nafter %+v", s, after)
}
