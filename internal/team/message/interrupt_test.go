package message

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/tmux"
)

// atWork is a terminal with a claude in a turn, which ends at Escape as a case says. Any other key deletes what is in its
// box.
type atWork struct {
	box, above string // what is in its prompt, and above that
	left       string // what cannot be deleted
	dialog     bool   // a permission is asked in its place
	deaf       bool   // keys go elsewhere
	silent     error  // of tmux, at Escape
	got        []string

	working  bool
	err      error // of a look
	end      transcript.TurnEnd
	asked    string // the last prompt in the transcript
	onEscape func()
}

func (a *atWork) cursor() tmux.Cursor { return tmux.Cursor{X: 2 + len(a.box)} }

func (a *atWork) Screen(context.Context) (tmux.Styled, error) {
	const rule = "────────────────────"
	text := a.above + "\n" + rule + "\n❯ " + strings.ReplaceAll(a.box, "\n", "\n  ") + "\n" + rule + "\n"
	if a.dialog {
		text = " Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel · Tab to amend\n"
	}
	return tmux.Styled{Text: text, Width: 80, Height: 24, Cursor: a.cursor()}, nil
}

func (a *atWork) Write(_ context.Context, text string, cursor *tmux.Cursor) (bool, error) {
	switch {
	case a.deaf || cursor != nil && *cursor != a.cursor():
		return false, nil
	case text == escape && a.silent != nil:
		a.onEscape()
		return false, a.silent
	}
	a.got = append(a.got, text)
	if text == escape {
		a.onEscape()
	} else {
		a.box = a.left
	}
	return true, nil
}

var errSilent = fail.Errorf(fail.TimedOut, "tmux was silent")

const escape = "\x1b"

var interruptions = map[string]struct {
	change  func(*atWork)
	outcome Outcome
	kind    fail.Kind
	says    string
	pressed int
	prompt  string
	left    bool
	noted   string // of the prompt
	noting  error
}{
	"at work":   {outcome: Interrupted, pressed: 1},
	"idle":      {change: func(a *atWork) { a.working = false }, outcome: WasIdle},
	"a dialog":  {change: func(a *atWork) { a.dialog = true }, kind: fail.Held, says: "waits for a person: permission prompt"},
	"copy mode": {change: func(a *atWork) { a.deaf = true }, kind: fail.Held, says: "takes no keys"},
	"queued text goes on": {
		change: func(a *atWork) { a.onEscape = func() { a.end = transcript.Interrupted } }, outcome: Interrupted, pressed: 1,
	},
	"ends in that moment": {
		change: func(a *atWork) { a.onEscape = func() { a.working, a.end = false, transcript.Ended } }, outcome: EndedItself, pressed: 1,
	},
	"a prompt that is given back": {
		change:  func(a *atWork) { a.above = "❯ do it"; a.onEscape = func() { a.working, a.box = false, "do it" } },
		outcome: Interrupted, pressed: 2, prompt: "do it", noted: "do it",
	},
	"a prompt that cannot be written down": {
		change: func(a *atWork) { a.above = "❯ do it"; a.onEscape = func() { a.working, a.box = false, "do it" } },
		noting: fail.Errorf(fail.Failed, "no space"), kind: fail.Failed, says: "no space", pressed: 1, prompt: "do it", left: true, noted: "do it",
	},
	"a prompt that cannot be erased": {
		change: func(a *atWork) {
			a.above = "❯ do it"
			a.left = "do it"
			a.onEscape = func() { a.working, a.box = false, "do it" }
		},
		outcome: Interrupted, pressed: -1, prompt: "do it", left: true, noted: "do it",
	},
	"a prompt that was not shown, and is written down": {
		change: func(a *atWork) {
			a.asked = "do it\nall"
			a.onEscape = func() { a.working, a.box = false, "do it\nall" }
		},
		outcome: Interrupted, pressed: 2, prompt: "do it\nall", noted: "do it\nall",
	},
	"a prompt of which the box shows the end": {
		change: func(a *atWork) {
			a.asked = "do it\nwith twenty characters and more"
			a.onEscape = func() { a.working, a.box = false, "with twenty characters and more" }
		},
		outcome: Interrupted, pressed: 2, prompt: "do it\nwith twenty characters and more", noted: "do it\nwith twenty characters and more",
	},
	"a prompt that was not shown": {
		change: func(a *atWork) { a.onEscape = func() { a.working, a.box = false, "mine" } }, outcome: Interrupted, pressed: 1, prompt: "mine", left: true,
	},
	"a draft": {
		change: func(a *atWork) { a.box = "mine"; a.onEscape = func() { a.working = false } }, outcome: Interrupted, pressed: 1,
	},
	"a turn that goes on": {change: func(a *atWork) { a.onEscape = func() {} }, kind: fail.TimedOut, says: "the turn goes on", pressed: 1},
	"an end at Escape": {
		change: func(a *atWork) {
			a.onEscape = func() { a.err = fail.Errorf(fail.Conflict, "the agent does not run: crashed") }
		},
		kind: fail.Conflict, says: "does not run", pressed: 1,
	},
	"a tmux that was silent, and pressed it": {
		change: func(a *atWork) {
			a.silent, a.onEscape = errSilent, func() { a.working, a.end = false, transcript.Interrupted }
		}, outcome: Interrupted,
	},
	"a tmux that was silent": {
		change: func(a *atWork) { a.silent, a.onEscape = errSilent, func() {} }, kind: fail.TimedOut, says: "tmux was silent",
	},
}

func TestInterruption(t *testing.T) {
	for what, c := range interruptions {
		synctest.Test(t, func(t *testing.T) {
			a := &atWork{working: true}
			a.onEscape = func() { a.working, a.end = false, transcript.Interrupted }
			if c.change != nil {
				c.change(a)
			}
			var noted []string
			remembered := ""
			i := interruption{
				Terminal: a,
				working:  func() (bool, error) { return a.working, a.err },
				ended:    func() (transcript.TurnEnd, error) { return a.end, nil },
				asked:    func() (string, error) { return a.asked, nil },
				left:     func(text string) error { remembered = text; return nil },
				note:     func(forgotten string) error { noted = append(noted, forgotten); return c.noting },
			}
			var done Interruption
			err := i.run(t.Context(), &done)
			if c.pressed >= 0 && len(a.got) != c.pressed || (remembered != "") != (c.pressed < 0) || done.Prompt != c.prompt || done.Left != c.left {
				t.Errorf("%s: typed %q, %+v", what, a.got, done)
			}
			wasNoted := done.Outcome == Interrupted
			if wasNoted != (len(noted) == 1) || wasNoted && noted[0] != c.noted {
				t.Errorf("%s: written down: %q; want %q", what, noted, c.noted)
			}
			switch {
			case c.kind == 0 && (err != nil || done.Outcome != c.outcome):
				t.Errorf("%s: %+v, %v", what, done, err)
			case c.kind != 0 && (fail.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says)):
				t.Errorf("%s: %v; want %d, %q", what, err, c.kind, c.says)
			}
		})
	}
}
