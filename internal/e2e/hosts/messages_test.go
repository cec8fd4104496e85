package hosts

import (
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// A text arrives at a host as it is, by an argument and by stdin: the shell of the host does not read it.
func TestMessagesAtAHost(t *testing.T) {
	f := standIn(t, "build1", "build2")
	for name, h := range f.hosts {
		f.OK("spawn", "alice@"+name, "--model", "sonnet")
		h.WaitState("alice", "idle")
	}
	const alice = "alice@build1"
	words := "-x\nof two lines, ü 漢; #(touch PWN) $HOME `id` 'one' \"two\" \\"
	rig.Equal(f, f.Reply(alice, "--", words), "You said: "+words, "the reply")
	cmd := f.Command([]string{"send", alice, "-", "--wait-reply", "--timeout", e2e.Patience()})
	cmd.Stdin = strings.NewReader("from stdin\nin two lines")
	r := f.Finish(cmd)
	f.Check(r.Code == 0 && strings.Contains(r.Stdout, "You said: from stdin\nin two lines"), "by stdin: %s", r)
	f.MustSay(f.OK("logs", alice), "of two lines", "from stdin")

	both := f.OK("send", alice, "alice@build2", "to both", "--wait-reply", "--timeout", e2e.Patience())
	f.Check(strings.Count(both, "You said: to both") == 2, "send to both: %s", both)
	f.MustSay(f.OK("wait", alice, "--for", "idle", "--timeout", e2e.Patience()), "alice")
	f.Check(!strings.Contains(f.hosts["build2"].OK("logs", "alice"), "from stdin"), "alice at build2 was told what was for alice at build1")

	missing := f.Refused(2, "bob", "send", "bob@build1", "hello")
	f.MustSay(missing.Stderr, "--host build1") // in the hint
}

// A conversation without a terminal is kept at the host, too.
func TestAskAtAHost(t *testing.T) {
	f := standIn(t, "build1")
	const key = "telegram:1@build1"
	first := f.Says(key, "Remember 42.", "OK, I will remember 42.")
	second := f.Says(key, "What number?", "42")
	rig.Equal(f, second.SessionID, first.SessionID, "the conversation")
	f.MustSay(f.OK("conversation", "list", "--host", "build1"), "telegram:1")
	f.MustSay(f.OK("conversation", "history", key), "Remember 42.", "What number?")
}
