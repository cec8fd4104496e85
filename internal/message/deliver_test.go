package message

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/transcript"
)

// scripted is a terminal with a claude that does what a case says.
type scripted struct {
	box     string   // what is in its prompt
	dialog  bool     // a permission is asked in its place
	deaf    bool     // keys go elsewhere
	dead    bool     // it has ended
	onText  func()   // happens when a text is typed
	onEnter func()   // happens in the moment of Enter
	got     []string // what reached it
	sent    transcript.Sent
}

const rule = "────────────────────"

func (s *scripted) Screen(context.Context) (string, error) {
	if s.dialog {
		return " Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel · Tab to amend\n", nil
	}
	return rule + "\n❯ " + strings.ReplaceAll(s.box, "\n", "\n  ") + "\n" + rule + "\n  ? for shortcuts\n", nil
}

func (s *scripted) Write(_ context.Context, text string) (bool, error) {
	if s.deaf {
		return false, nil
	}
	s.got = append(s.got, text)
	switch text {
	case enter:
		s.onEnter()
		return true, nil
	case eraser:
		s.box = ""
		return true, nil
	}
	if !s.dialog {
		s.box += text
	}
	s.onText()
	return true, nil
}

func TestDelivery(t *testing.T) {
	accepted := transcript.Sent{UUID: "u", Found: true}
	for what, c := range map[string]struct {
		change func(*scripted)
		text   string
		word   Word
		kind   agent.Kind // 0: no error
		typed  int        // how often something reached the terminal
		says   string
	}{
		"a prompt that is ready": {word: Accepted, typed: 2},
		"two lines":              {text: "one\ntwo", word: Accepted, typed: 2},
		"taken up after this turn": {
			change: func(s *scripted) { s.onEnter = func() { s.sent = transcript.Sent{Queued: true, Found: true} } }, word: Queued, typed: 2,
		},
		"a draft":     {change: func(s *scripted) { s.box = "somebody's" }, word: Held, kind: agent.Held, says: `unsent draft is in its prompt: "somebody's"`},
		"a dialog":    {change: func(s *scripted) { s.dialog = true }, word: Held, kind: agent.Held, says: "waits for a person: permission prompt"},
		"a deaf pane": {change: func(s *scripted) { s.deaf = true }, word: Held, kind: agent.Held, says: "takes no keys"},
		"a dialog that comes while it is typed": {
			change: func(s *scripted) { s.onText = func() { s.dialog = true } }, word: Held, kind: agent.Held, typed: 1, says: "waits for a person",
		},
		"a person who types too": {
			change: func(s *scripted) { s.onText = func() { s.box += " me too" } }, word: Held, kind: agent.Held, typed: 1, says: "was not submitted",
		},
		"a prompt that loses a part of it": {
			change: func(s *scripted) { s.onText = func() { s.box = "llo" } }, word: Held, kind: agent.Held, typed: 2, says: "was not submitted",
		},
		"a prompt that loses the text": {
			change: func(s *scripted) { s.onText = func() { s.box = "" } }, word: Held, kind: agent.Held, typed: 1, says: "was not submitted",
		},
		"a pane that goes deaf before Enter": {
			change: func(s *scripted) { s.onText = func() { s.deaf = true } }, word: Held, kind: agent.Held, typed: 1, says: "takes no keys",
		},
		"an end at Enter":    {change: func(s *scripted) { s.onEnter = func() { s.dead = true } }, word: Unknown, kind: agent.TimedOut, typed: 2, says: "claude ended"},
		"an end right after": {change: func(s *scripted) { s.onEnter = func() { s.dead, s.sent = true, accepted } }, word: Accepted, typed: 2},
		"no proof":           {change: func(s *scripted) { s.onEnter = func() {} }, word: Unknown, kind: agent.TimedOut, typed: 2, says: "the transcript does not have it"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &scripted{onText: func() {}}
			s.onEnter = func() { s.box, s.sent = "", accepted }
			if c.change != nil {
				c.change(s)
			}
			text := c.text
			if text == "" {
				text = "hello"
			}
			d := delivery{Terminal: s, text: text, sent: func() (transcript.Sent, error) { return s.sent, nil }, alive: func() bool { return !s.dead }}
			word, _, err := d.run(t.Context())
			switch {
			case word != c.word || len(s.got) != c.typed:
				t.Errorf("%s: %s, typed %q, %v", what, word, s.got, err)
			case c.kind == 0 && err != nil, c.kind != 0 && (agent.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says)):
				t.Errorf("%s: %v; want %d, %q", what, err, c.kind, c.says)
			}
		})
	}
}

// Enter is never pressed twice, and the text never typed twice, however long the proof takes.
func TestDeliveryIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := &scripted{onText: func() {}, onEnter: cancel}
		d := delivery{Terminal: s, text: "hello", sent: func() (transcript.Sent, error) { return transcript.Sent{}, nil }, alive: func() bool { return true }}
		if word, _, err := d.run(ctx); word != Unknown || agent.KindOf(err) != agent.Interrupted || len(s.got) != 2 {
			t.Errorf("%s, %v, typed %q", word, err, s.got)
		}
	})
}

func TestUnansweredTerminal(t *testing.T) {
	silent := errors.New("silent")
	d := delivery{Terminal: failing{silent}, text: "x"}
	if word, _, err := d.run(t.Context()); word != Held || !errors.Is(err, silent) {
		t.Errorf("%s, %v", word, err)
	}
}

type failing struct{ err error }

func (f failing) Screen(context.Context) (string, error)      { return "", f.err }
func (f failing) Write(context.Context, string) (bool, error) { return false, f.err }

func TestCheck(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", typedCharacters+1)
	for what, c := range map[string]struct {
		message Message
		refused bool
	}{
		"a text": {Message{Text: "hello"}, false}, "blank": {Message{Text: " \n"}, true}, "too large": {Message{Text: strings.Repeat("x", limit+1)}, true},
		"a command": {Message{Text: "/compact"}, true}, "a command, raw": {Message{Text: "/compact now", Raw: true}, false},
		"a command that leaves": {Message{Text: "/clear", Raw: true}, true}, "words, raw": {Message{Text: "compact", Raw: true}, true},
		"for the shell": {Message{Text: "!rm -rf x"}, true}, "for the shell, raw": {Message{Text: "!rm -rf x", Raw: true}, true},
		"for the shell, behind blanks": {Message{Text: "\n  !ls"}, true}, "exit": {Message{Text: "exit"}, true}, "help": {Message{Text: "?"}, true},
		"exit, by file": {Message{Text: "exit", ByFile: true}, false}, "a note": {Message{Text: "# remember"}, true}, "a long command": {Message{Text: "/" + long, Raw: true}, true},
		"a question": {Message{Text: "exit?"}, false},
	} {
		if err := c.message.check(); (err != nil) != c.refused || err != nil && agent.KindOf(err) != agent.BadInput {
			t.Errorf("%s: %v", what, err)
		}
	}
	for text, want := range map[string]bool{
		"a\nb": true, "tab\there": false, "\x1b[31m": false, long: false, strings.Repeat("x\n", typedLines): false, "ü 漢 👩‍💻": true, "\xff": false,
	} {
		if got := isTyped(text); got != want {
			t.Errorf("%q is typed: %t", text, got)
		}
	}
}
