package typing

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/tmux"

	"nbs-worker/internal/sim/rig"
)

// scripted is a terminal with a claude that does what a case says.
type scripted struct {
	box      string   // what is in its prompt
	undrawn  string   // what a person has typed there too
	atStart  bool     // the cursor, not at the end
	dialog   bool     // a permission is asked in its place
	deaf     bool     // keys go elsewhere
	inMode   bool     // of tmux, which says so
	dead     bool     // it has ended
	onLook   func()   // happens after each look
	onText   func()   // happens when a text is typed
	onEnter  func()   // happens in the moment of Enter
	got      []string // what reached it
	sent     transcript.Sent
	offered  string // below the box
	left     string // what cannot be deleted
	above    string // the box
	silent   error  // of tmux
	silentAt string // which key; "": Enter

	typed, entered        time.Time     // when the last text and the last Enter reached it
	draws, offers, proves time.Duration // how long after that it shows the text, offers a command, and writes the prompt down
	working               bool          // its registry says so

	lag     time.Duration // after which it shows what keys have changed
	half    bool          // it is just drawing its box
	ghost   string        // which it adds below the cursor to a command behind a blank
	before  string        // what was in the box before the last change
	changed time.Time
}

const rule = "────────────────────"

// drawn is what is shown in the box.
func (s *scripted) drawn() string {
	if time.Since(s.changed) < s.lag {
		return s.before
	}
	return s.box
}

func (s *scripted) Screen(context.Context) (tmux.Styled, error) {
	box, offered := s.drawn(), s.offered
	if time.Since(s.typed) < s.draws {
		box = ""
	}
	if time.Since(s.typed) < s.offers {
		offered = ""
	}
	shown := tmux.Styled{Width: 80, Height: 24, Cursor: s.cursor(box), InMode: s.inMode}
	shown.Text = s.above + "\n" + rule + "\n❯ " + strings.ReplaceAll(box, "\n", "\n  ") + "\n" + rule + "\n  " + offered + "\n"
	if s.ghost != "" && strings.HasPrefix(box, blank+"/") {
		shown.Text = "\n" + rule + "\n❯ " + box + "\x1b[7m" + s.ghost + "\x1b[0m\n" + rule + "\n"
	}
	if s.half {
		shown.Text = "\n" + rule + "\n"
	}
	if s.dialog {
		shown.Text = " Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel · Tab to amend\n"
	}
	if s.onLook != nil {
		s.onLook()
	}
	return shown, nil
}

func (s *scripted) cursor(box string) tmux.Cursor {
	c := tmux.Cursor{X: firstColumn, Y: 2 + strings.Count(s.above, "\n")}
	if !s.atStart {
		c.X += len(box)
	}
	return c
}

func (s *scripted) Write(_ context.Context, text string, cursor *tmux.Cursor) (bool, error) {
	if s.silent != nil && strings.Contains(text, cmp.Or(s.silentAt, enter)) {
		s.onEnter()
		return false, s.silent
	}
	if s.deaf || s.inMode || cursor != nil && cursor.X != s.cursor(s.drawn()).X {
		return false, nil
	}
	s.before, s.changed = s.drawn(), time.Now()
	s.got = append(s.got, text)
	_, submitted, isText := strings.Cut(text, cut+backspace)
	switch {
	case text == lineStart:
		s.atStart = true
	case strings.HasPrefix(text, cutTyped()+enter):
		s.entered, s.atStart = time.Now(), false
		s.onEnter()
		s.box += s.undrawn
	case text == eraser:
		s.box = s.left
	case isText:
		persons := strings.TrimPrefix(s.box+s.undrawn, blank)
		s.box, _, _ = strings.Cut(submitted, enter)
		s.entered = time.Now()
		s.onEnter()
		s.box += persons
	case strings.HasPrefix(text, lineStart):
		_, typed, _ := strings.Cut(text, lineEnd)
		s.box = s.box[min(len(s.box), strings.Count(text, deletion)):] + typed
		s.onText()
	default:
		s.typed = time.Now()
		if !s.dialog {
			s.box += text
		}
		s.onText()
	}
	return true, nil
}

// What became of a text.
const (
	Held     = "held"
	Unknown  = "unknown"
	Accepted = "accepted"
	Queued   = "queued"
)

func wordOf(submitted bool, sent transcript.Sent) string {
	switch {
	case !submitted:
		return Held
	case !sent.Found:
		return Unknown
	case sent.UUID != "":
		return Accepted
	default:
		return Queued
	}
}

var (
	accepted  = transcript.Sent{UUID: "u", Found: true}
	errSilent = fail.Errorf(fail.TimedOut, "tmux was silent")
)

var deliveries = map[string]struct {
	change func(*scripted)
	text   string
	word   string
	kind   fail.Kind // 0: no error
	typed  int       // how often something reached the terminal
	says   string
	left   string // in the box
}{
	"a prompt that is ready": {word: Accepted, typed: 2},
	"two lines":              {text: "one\ntwo", word: Accepted, typed: 2},
	"taken up after this turn": {
		change: func(s *scripted) { s.onEnter = func() { s.sent = transcript.Sent{Found: true} } }, word: Queued, typed: 2,
	},
	"a deaf pane": {change: func(s *scripted) { s.deaf = true }, word: Held, kind: fail.Held, says: "takes no keys"},
	"a dialog that comes before it is typed": {
		change: func(s *scripted) { s.dialog = true }, word: Held, kind: fail.Held, says: "waits for a person: permission prompt",
	},
	"a draft that is begun before it is typed": {
		change: func(s *scripted) { s.box = "mine" }, word: Held, kind: fail.Held, says: "unsent draft",
	},
	"a draft that is begun in that moment": {
		change: func(s *scripted) { s.onLook = func() { s.box = "mine" } }, word: Held, kind: fail.Held, says: "unsent draft",
	},
	"a dialog that comes behind the blank": {
		change: func(s *scripted) { s.onText = func() { s.dialog = true } }, word: Held, kind: fail.Held, typed: 1, says: "waits for a person: permission prompt",
	},
	"a draft that is begun behind the blank": {
		change: func(s *scripted) { s.onText = func() { s.box += "mine" } }, word: Held, kind: fail.Held, typed: 1, says: "unsent draft",
	},
	"a search in the history":                    {change: func(s *scripted) { s.offered = "search prompts:   ⏵⏵ auto mode on" }, word: Held, kind: fail.Held, says: "searches its prompt history"},
	"a search that finds nothing":                {change: func(s *scripted) { s.offered = "no matching prompt: x" }, word: Held, kind: fail.Held, says: "searches its prompt history"},
	"a person who types too, which is not drawn": {change: func(s *scripted) { s.undrawn = "mine" }, word: Accepted, typed: 2, left: "mine"},
	"a dialog that is about to go takes the blank": {
		change: func(s *scripted) { s.onText = func() { s.box, s.onText = "", func() {} } }, word: Accepted, typed: 3,
	},
	"a prompt that takes nothing": {
		change: func(s *scripted) { s.onText = func() { s.box = "" } }, word: Held, kind: fail.Held, typed: -1, says: "did not show that it takes keys",
	},
	"a command that cannot be deleted": {
		text: "/compact", change: func(s *scripted) {
			s.left, s.offered = "/", "/other"
			s.onText = func() { s.box = strings.Replace(s.box, "ct", "ctt", 1) }
		}, word: Held, kind: fail.Held, typed: -1, says: "may still be in its prompt",
	},
	"a pane that goes deaf behind the blank": {
		change: func(s *scripted) { s.onText = func() { s.deaf = true } }, word: Held, kind: fail.Held, typed: 1, says: "takes no keys",
	},
	"a prompt that is drawn again behind the blank": {
		change: func(s *scripted) {
			looks := 0
			s.onText = func() { s.half = true }
			s.onLook = func() { looks++; s.half = s.half && looks%3 != 0 }
		}, word: Accepted, typed: 2,
	},
	"a prompt that goes away behind the blank": {
		change: func(s *scripted) { s.onText = func() { s.half = true } }, word: Held, kind: fail.Held, typed: 1, says: "its prompt is not on its screen",
	},
	"an end at Enter":    {change: func(s *scripted) { s.onEnter = func() { s.box, s.dead = "", true } }, word: Unknown, kind: fail.TimedOut, typed: 2, says: "claude ended"},
	"an end right after": {change: func(s *scripted) { s.onEnter = func() { s.box, s.dead, s.sent = "", true, accepted } }, word: Accepted, typed: 2},
	"no proof":           {change: func(s *scripted) { s.onEnter = func() { s.box = "" } }, word: Unknown, kind: fail.TimedOut, typed: 2, says: "the transcript does not contain it"},
	"a proof that takes long, of a claude at work": {
		change: func(s *scripted) { s.proves, s.working, s.onEnter = 25*time.Second, true, func() { s.box = "" } }, word: Accepted, typed: 2,
	},
	"a proof that takes long, of a claude that does nothing": {
		change: func(s *scripted) { s.proves, s.onEnter = 25*time.Second, func() { s.box = "" } }, word: Unknown, kind: fail.TimedOut, typed: 2, says: "after 10s the transcript does not contain it",
	},
	"no proof, of a claude at work": {
		change: func(s *scripted) { s.working, s.onEnter = true, func() { s.box = "" } }, word: Unknown, kind: fail.TimedOut, typed: 2,
		says: "after 30s the transcript does not contain it; claude is still working",
	},
	"a claude that draws late": {change: func(s *scripted) { s.draws = 8 * time.Second }, word: Accepted, typed: 2},
	"a hook that refuses": {
		change: func(s *scripted) { s.onEnter = func() {} }, word: Unknown, kind: fail.TimedOut, typed: 3, says: "Claude has not taken it",
	},
	"a tmux that was silent at Enter, and pressed it": {change: func(s *scripted) { s.silent = errSilent }, word: Accepted, typed: 1},
	"a tmux that was silent at Enter": {
		change: func(s *scripted) { s.silent, s.onEnter = errSilent, func() { s.box = "" } }, word: Unknown, kind: fail.TimedOut, typed: 1, says: "tmux was silent",
	},
	"a command": {text: "/compact", change: func(s *scripted) { s.offered = "/compact  Free up context" }, word: Accepted, typed: 4},
	"a command, and a person who types too, which is not drawn": {
		text: "/compact", change: func(s *scripted) { s.undrawn, s.offered = "mine", "/compact" }, word: Accepted, typed: 4, left: "mine",
	},
	"a command that is offered late": {
		text: "/compact", change: func(s *scripted) { s.offers, s.offered = 2*time.Second, "/compact  Free up context" }, word: Accepted, typed: 4,
	},
	"a command behind a blank that stood there, of a claude that draws slowly": {
		text: "/compact", change: func(s *scripted) { s.box, s.lag, s.offered = blank, 300*time.Millisecond, "/compact  Free up context" }, word: Accepted, typed: 4,
	},
	"a command that resembles another, behind a blank that is drawn late and slowly": {
		text: "/clea", change: func(s *scripted) {
			s.lag, s.ghost, s.offered = 300*time.Millisecond, "r", "/clear  Start anew"
			late := true
			s.onText = func() {
				if s.box == "/clea" && late {
					s.box, late = " /clea", false
				}
			}
		}, word: Held, kind: fail.BadInput, typed: -1, says: `offers "/clear"`,
	},
	"a command on a screen that is half drawn for a moment": {
		text: "/clea", change: func(s *scripted) {
			s.offered = "/clear  Start anew"
			looks := 0
			s.onLook = func() {
				looks++
				s.half = s.box == "/clea" && looks%3 == 0
			}
		}, word: Held, kind: fail.BadInput, typed: -1, says: `offers "/clear"`,
	},
	"a command behind a blank that is drawn late": {
		text: "/compact", change: func(s *scripted) {
			s.lag = 300 * time.Millisecond
			late := true
			s.onText = func() {
				switch {
				case s.box != "/compact":
				case late:
					s.box, late = " /compact", false
				default:
					s.offered = "/compact  Free up context"
				}
			}
		}, word: Accepted, typed: 5,
	},
	"a command that resembles another": {
		text: "/clea", change: func(s *scripted) { s.offered = "/clear  Start anew" }, word: Held, kind: fail.BadInput, typed: 3, says: `offers "/clear"`,
	},
	"a command with words":        {text: "/model opus", word: Accepted, typed: 4},
	"a command that there is not": {text: "/nosuch", word: Held, kind: fail.BadInput, typed: 3, says: "has no command"},
}

func TestDelivery(t *testing.T) {
	for what, c := range deliveries {
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
			d := delivery{Terminal: s, text: text, Claude: Claude{Alive: func() bool { return !s.dead }, AtWork: func() bool { return s.working }}}
			d.Sent = func() (transcript.Sent, error) {
				if s.proves != 0 && !s.entered.IsZero() && time.Since(s.entered) >= s.proves {
					return accepted, nil
				}
				return s.sent, nil
			}
			submitted, sent, err := d.run(t.Context())
			word := wordOf(submitted, sent)
			switch {
			case word != c.word || c.typed >= 0 && len(s.got) != c.typed:
				t.Errorf("%s: %s, typed %q, %v", what, word, s.got, err)
			case strings.TrimSpace(s.box) != c.left && (c.word == Accepted || c.kind == fail.BadInput):
				t.Errorf("%s: %q is in the box", what, s.box)
			case c.kind == 0 && err != nil, c.kind != 0 && (fail.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says)):
				t.Errorf("%s: %v; want %d, %q", what, err, c.kind, c.says)
			}
		})
	}
}

// Nobody waits until a person has looked back enough.
func TestPaneInAMode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, s := time.Now(), &scripted{inMode: true}
		d := delivery{Terminal: s, text: "hello"}
		_, _, sending := d.run(t.Context())
		_, _, interrupting := Escape(t.Context(), s, func() (bool, error) { return true, nil })
		for _, err := range []error{sending, interrupting} {
			if fail.KindOf(err) != fail.Held || !strings.Contains(err.Error(), "copy mode") || !time.Now().Equal(began) {
				t.Errorf("after %s: %v", time.Since(began), err)
			}
		}
	})
}

// An interrupt before the first key leaves nothing typed, one while it is typed comes too late, and
// one behind Enter ends the wait for the proof.
func TestDeliveryIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := &scripted{onText: cancel}
		s.onEnter = func() { s.box = "" }
		claude := Claude{Sent: func() (transcript.Sent, error) { return transcript.Sent{}, nil }, Alive: func() bool { return true }, AtWork: func() bool { return false }}
		d := delivery{Terminal: s, text: "hello", Claude: claude}
		submitted, sent, err := d.run(ctx)
		rig.Check(t, submitted && !sent.Found && fail.KindOf(err) == fail.Interrupted && len(s.got) == 2, "%t, %v, typed %q", submitted, err, s.got)
		submitted, _, err = d.run(ctx)
		rig.Check(t, !submitted && fail.KindOf(err) == fail.Interrupted && len(s.got) == 2, "before the first key: %t, %v, typed %q", submitted, err, s.got)
	})
}

func TestPromptThatIsReady(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		terminal scripted
		says     string // "": it is ready
	}{
		"ready": {scripted{}, ""}, "a draft": {scripted{box: "somebody's"}, "unsent draft"}, "shell mode": {scripted{box: "! ls"}, "unsent draft"},
		"a dialog": {scripted{dialog: true}, "waits for a person: permission prompt"},
	} {
		shown, _ := c.terminal.Screen(t.Context())
		err := checkPrompt(shown)
		rig.Check(t, (err == nil) == (c.says == "") && (err == nil || fail.KindOf(err) == fail.Held && strings.Contains(err.Error(), c.says)), "%s: %v", what, err)
	}
	err := checkPrompt(tmux.Styled{Text: "$ \n"})
	rig.Check(t, fail.KindOf(err) == fail.Held, "a shell: %v", err)
}

// Of a dialog that was just answered something may be left on the screen; one that stays is a person's.
func TestPromptBehindADialog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{dialog: true}
		looks := 0
		s.onLook = func() { looks++; s.dialog = looks < 10 }
		shown, err := awaitPrompt(t.Context(), s)
		rig.Check(t, err == nil && strings.Contains(shown.Text, "❯"), "after the answer: %v, %q", err, shown.Text)
		s.onLook, s.dialog = nil, true
		begun := time.Now()
		_, err = awaitPrompt(t.Context(), s)
		rig.Check(t, fail.KindOf(err) == fail.Held && strings.Contains(err.Error(), "permission prompt") && time.Since(begun) < settleLimit+time.Second, "after %s: %v", time.Since(begun), err)
		s.dialog, s.box, begun = false, "somebody's", time.Now()
		_, err = awaitPrompt(t.Context(), s)
		rig.Check(t, fail.KindOf(err) == fail.Held && time.Now().Equal(begun), "a draft, after %s: %v", time.Since(begun), err)
	})
}

// A claude that draws nothing got nothing but blanks.
func TestClaudeThatDrawsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{onText: func() {}, draws: time.Hour}
		d := delivery{Terminal: s, text: "hello"}
		submitted, _, err := d.run(t.Context())
		rig.Check(t, !submitted && fail.KindOf(err) == fail.Held && strings.TrimSpace(strings.Join(s.got, "")) == "", "%t, %v, typed %q", submitted, err, s.got)
	})
}

// What tmux did not answer may have been typed all the same, and may stand in the prompt.
func TestUnansweredTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{silent: errSilent, silentAt: "/x", onText: func() {}, onEnter: func() {}}
		d := delivery{Terminal: s, text: "/x"}
		submitted, _, err := d.run(t.Context())
		rig.Check(t, !submitted && errors.Is(err, errSilent) && strings.Contains(err.Error(), "may still be in its prompt"), "%t, %v", submitted, err)
		d.Terminal = failing{errSilent}
		submitted, _, err = d.run(t.Context())
		rig.Check(t, !submitted && errors.Is(err, errSilent) && !strings.Contains(err.Error(), "typed"), "before the first key: %t, %v", submitted, err)
	})
}

type failing struct{ err error }

func (f failing) Screen(context.Context) (tmux.Styled, error)               { return tmux.Styled{}, f.err }
func (f failing) Write(context.Context, string, *tmux.Cursor) (bool, error) { return false, f.err }
