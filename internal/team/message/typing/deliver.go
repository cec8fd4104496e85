package typing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/platform/tmux"
)

// Terminal is the terminal that claude runs in.
type Terminal interface {
	// Screen returns what the terminal shows, with the attributes of its characters.
	Screen(ctx context.Context) (tmux.Styled, error)
	// Write types a text, and reports whether it reached the program. It types nothing if the cursor is not at the given
	// place; nil: any place.
	Write(ctx context.Context, text string, cursor *tmux.Cursor) (bool, error)
}

// How long a delivery waits, and how often it looks. claude draws typed text within milliseconds, or within seconds
// on a busy machine. It writes a prompt to the transcript after its hooks have run.
const (
	drawLimit   = 10 * time.Second
	proofLimit  = 10 * time.Second
	proofRounds = 3 // how often to wait for proofLimit while claude is working
	eraseLimit  = 3 * time.Second
	settleLimit = 2 * time.Second
)

// The keys. They are escape sequences where Claude would take a plain key in the same write for a part of the text.
const (
	blank     = " " // Claude trims it from a prompt
	enter     = "\x1b[13u"
	lineStart = "\x1b[H"
	lineEnd   = "\x1b[F"
	deletion  = "\x1b[3~"   // of the character under the cursor
	backspace = "\x1b[127u" // in an empty box it ends shell mode
	cut       = "\x1b[117;5u"
	putBack   = "\x1b[121;5u"
	cuts      = 9 // each cuts a line, or the line break before it
)

// Claude is what is asked of a claude about a text that is typed.
type Claude struct {
	Sent   func() (transcript.Sent, error) // reports whether the transcript contains the text
	Alive  func() bool                     // reports whether claude runs
	AtWork func() bool                     // reports whether claude is in a turn
}

// delivery is one text that is being typed into a ready prompt.
type delivery struct {
	Terminal
	Claude
	handle agent.Handle
	text   string // in the form that is typed
}

// run types the text and proves that it arrived. The error is why nothing was submitted or, if the text was, why there
// is no proof. An interrupt does not stop the typing: half a text would be left as a draft.
func (d *delivery) run(ctx context.Context) (submitted bool, sent transcript.Sent, err error) {
	if ctx.Err() != nil {
		return false, transcript.Sent{}, fail.Errorf(fail.Interrupted, "interrupted; nothing was typed")
	}
	typing := context.WithoutCancel(ctx)
	silent, err := d.typeAndSubmit(typing)
	if err != nil {
		return false, transcript.Sent{}, err
	}
	begun := time.Now()
	sent, noProof := d.awaitProof(ctx) // also when tmux did not report whether it has pressed Enter
	if sent.Found {
		return true, sent, nil
	}
	err = cmp.Or(silent, noProof)
	// A text that is in the box again must not stay there. It may still be submitted: a claude that hangs has not read
	// the Enter yet.
	if shown, failed := d.Screen(typing); fail.KindOf(noProof) == fail.TimedOut && failed == nil {
		isLeft := d.shows(shown)
		switch {
		case screen.Refused(screen.Plain(shown.Text), d.text):
			err = fail.Errorf(fail.TimedOut, "it was submitted, and a hook of the agent's has refused it")
		case isLeft:
			err = fail.Errorf(fail.TimedOut, "it was submitted, and still stood in the prompt after %s: Claude has not taken it", inSeconds(begun))
		}
		if isLeft {
			err = d.takenBack(typing, err)
		}
	}
	return true, sent, err
}

// typeAndSubmit types the text and presses Enter. silent is why tmux did not report whether Enter was pressed. held
// is why nothing was submitted.
func (d *delivery) typeAndSubmit(ctx context.Context) (silent, held error) {
	if !d.isCommand() {
		return d.enterReady(ctx, d.submission)
	}
	silent, err := d.enterReady(ctx, func(blanks int, _ bool) string { return withoutFirst(blanks) + d.text })
	if err != nil {
		return nil, err
	}
	if err = silent; err == nil {
		err = d.awaitCommand(ctx)
	}
	if err == nil {
		silent, err = d.submit(ctx)
	}
	if err != nil {
		return nil, d.takenBack(ctx, err)
	}
	return silent, nil
}

// submission returns the keys that submit only the text. They go in one write, so that no other key comes in between.
// A person may have typed something that claude has not drawn yet, also several lines. The keys cut it before the
// text and put it back after Enter. They cut a blank with it, so that there is always a cut to put back: otherwise
// Claude would put back an earlier one. The blank is deleted right after it was put back, because the box may then
// hold a draft that the person has stashed: Claude restores it when a text is submitted. The blank after the text
// closes the list that Claude offers for a word with an @, and keeps a backslash from turning Enter into a new line.
func (d *delivery) submission(blanks int, stashed bool) string {
	keys := withoutFirst(blanks) + cutTyped() + d.text + blank + enter
	if stashed { // 2.1.197 would put the cut text back in place of the stashed draft
		return keys
	}
	return keys + putBack + backspace
}

// cutTyped returns the keys that type a blank, cut everything before the cursor, and end shell mode.
func cutTyped() string { return blank + strings.Repeat(cut, cuts) + backspace }

// withoutFirst returns the keys that delete n characters at the beginning of a line.
func withoutFirst(n int) string { return lineStart + strings.Repeat(deletion, n) + lineEnd }

func (d *delivery) isCommand() bool { return strings.HasPrefix(d.text, "/") }

// blankPause is the time after which an undrawn blank is typed again: a dialog that was closing may have taken it.
const blankPause = time.Second

// enterReady types a blank into the empty prompt, and waits until claude has drawn it. That proves that keys reach
// the prompt and that no earlier key is still on its way. Then enterReady types keys. keys gets the number of blanks
// in the box, and whether a draft is stashed. If Claude moves the box or opens a dialog, which Enter would answer,
// the cursor is in another place: enterReady types nothing and looks again.
// silent is why tmux did not report whether the keys were typed. held is why they were not.
func (d *delivery) enterReady(ctx context.Context, keys func(blanks int, stashed bool) string) (silent, held error) {
	var again time.Time
	start, typed, drawn := -1, 0, 0
	err := clock.Poll(ctx, drawLimit, func() (over bool, _ error) {
		var shown tmux.Styled
		if shown, held = d.Screen(ctx); held == nil {
			held = checkPrompt(shown)
		}
		if held != nil {
			return !errors.Is(held, errNoPrompt), nil //nolint:nilerr // it is returned as held
		}
		reached := false
		switch drawn = shown.Cursor.X - start; {
		case start >= 0 && drawn > 0 && (drawn >= typed || time.Now().After(again)): // or another blank is on its way
			reached, silent = d.Write(ctx, keys(max(0, shown.Cursor.X-firstColumn), screen.Stashed(screen.Plain(shown.Text))), &shown.Cursor) // what may have been typed is not typed again
			return reached || silent != nil, nil
		case time.Now().Before(again):
			return false, nil
		}
		again = time.Now().Add(blankPause)
		if reached, held = d.Write(ctx, blank, &shown.Cursor); reached {
			if typed++; start < 0 {
				start = shown.Cursor.X
			}
		}
		return held != nil, nil
	})
	switch {
	case err == nil || held != nil:
		return silent, held
	case start < 0 || drawn > 0:
		return nil, unreached()
	}
	return nil, fail.Errorf(fail.Held, "%w", ErrUndrawn)
}

// ErrUndrawn means that claude has not drawn a key in time, and that only blanks were typed. Another try may succeed
// when the machine is less busy.
var ErrUndrawn = errors.New("its prompt did not show that it takes keys")

// awaitPrompt waits until the screen shows the prompt. Claude's registry reports the prompt earlier: a part of an
// answered dialog may still be shown, or a suspended claude is redrawing its screen. Errors: those of checkPrompt.
func awaitPrompt(ctx context.Context, t Terminal) (shown tmux.Styled, err error) {
	var held error
	begun := time.Now()
	late := clock.Poll(ctx, drawLimit, func() (over bool, err error) {
		held = nil
		if shown, err = t.Screen(ctx); err != nil {
			return false, err
		}
		held = checkPrompt(shown)
		_, found := screen.Draft(shown.Text)
		inDialog := checkDialog(shown) != nil
		return shown.InMode || found && !inDialog || inDialog && time.Since(begun) >= settleLimit, nil
	})
	return shown, cmp.Or(held, late)
}

// errNoPrompt means that the screen shows no prompt. Claude may be drawing it again: 2.1.197 does when it closes the list
// of its commands.
var errNoPrompt = errors.New("its prompt is not on its screen")

// checkPrompt refuses to type if the text would not reach the prompt, or not alone. Errors: Held.
func checkPrompt(shown tmux.Styled) error {
	if shown.InMode {
		return errInMode()
	}
	if err := checkDialog(shown); err != nil {
		return err
	}
	switch draft, found := screen.Draft(shown.Text); {
	case !found:
		return fail.Errorf(fail.Held, "%w", errNoPrompt)
	case draft != "":
		return fail.Errorf(fail.Held, "%w", errDraft)
	case screen.Searches(screen.Plain(shown.Text)):
		return fail.Errorf(fail.Held, "a person searches its prompt history there")
	}
	return nil
}

// checkDialog refuses to type into a dialog. Errors: Held.
func checkDialog(shown tmux.Styled) error {
	if dialog := screen.Read(screen.Plain(shown.Text)).Dialog; dialog != "" {
		return fail.Errorf(fail.Held, "it waits for a person: %s", dialog.Waits())
	}
	return nil
}

func errInMode() error {
	return fail.Errorf(fail.Held, "its pane is in copy mode (someone is scrolling); keys would not reach claude")
}

// unreached returns the error for a text that did not reach the program.
func unreached() error {
	return fail.Errorf(fail.Held, "its pane takes no keys: someone is scrolling or typing there, or claude has just ended")
}

// shows reports whether the box contains exactly the text.
func (d *delivery) shows(shown tmux.Styled) bool {
	draft, found := screen.Draft(shown.Text)
	return found && screen.Dense(draft) == screen.Dense(d.text)
}

// awaitProof waits until the transcript contains the text. It waits longer for a working claude: that claude has
// taken this text or another one, and may still be running the hooks of the prompt.
func (d *delivery) awaitProof(ctx context.Context) (sent transcript.Sent, err error) {
	ended, working, begun := false, true, time.Now()
	for n := 0; n < proofRounds && working; n++ {
		err = clock.Poll(ctx, proofLimit, func() (over bool, err error) {
			ended = !d.Alive() // before the look, so that what it wrote last is read
			sent, err = d.Sent()
			return sent.Found || ended, err
		})
		working = fail.KindOf(err) == fail.TimedOut && d.AtWork()
	}
	switch {
	case sent.Found:
		return sent, nil
	case err == nil:
		err = fail.Errorf(fail.TimedOut, "it was submitted, claude ended, and the transcript does not contain it")
	case fail.KindOf(err) == fail.TimedOut:
		err = fail.Errorf(fail.TimedOut, "it was submitted, and after %s the transcript does not contain it", inSeconds(begun))
		if working {
			err = fmt.Errorf("%w; claude is still working", err)
		}
	}
	return sent, err
}

func inSeconds(begun time.Time) time.Duration { return time.Since(begun).Round(time.Second) }
