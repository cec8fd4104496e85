package typing

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/platform/tmux"
)

// A command of Claude's own is checked in the box before Enter, because Claude may offer another command for it. So
// Enter is sent in a separate write. By then the cursor is at the beginning of the box, so what a person has just
// typed and claude has not drawn yet stands before the command. The same write cuts it and puts it back.

// awaitCommand waits until the box shows the command with nothing before it, and Claude offers no other command for
// it. It deletes a blank that was drawn late, once: with a blank before the command, Claude offers nothing, and
// 2.1.197 gives the command to the model as text. Errors: Held; BadInput.
func (d *delivery) awaitCommand(ctx context.Context) error {
	var shown tmux.Styled
	var at tmux.Cursor // where blanks were deleted
	err := clock.Poll(ctx, drawLimit, func() (there bool, err error) {
		if shown, err = d.Screen(ctx); err != nil {
			return false, err
		}
		draft, _ := screen.Draft(shown.Text)
		blanks := screen.Indent(shown.Text)
		if blanks == 0 || shown.Cursor == at || strings.Contains(draft, "\n") { // not drawn yet; Home leads to a later line
			return blanks == 0 && d.shows(shown), nil
		}
		reached, err := d.Write(ctx, withoutFirst(blanks), &shown.Cursor)
		if reached {
			at = shown.Cursor
		}
		return false, err
	})
	if fail.KindOf(err) == fail.TimedOut {
		return d.changed(shown)
	}
	if err == nil {
		err = d.checkSuggestion(ctx)
	}
	return err
}

// submit moves the cursor before the command, and presses Enter when the box shows the cursor there. silent is why
// tmux did not report whether Enter was pressed. If Claude moves the box or opens a dialog, the cursor is in another
// place: submit presses nothing and looks again. Errors: Held.
func (d *delivery) submit(ctx context.Context) (silent, err error) {
	var shown tmux.Styled
	moved := false // only once: a second time, it would move behind what a person has typed there
	err = clock.Poll(ctx, drawLimit, func() (over bool, err error) {
		if shown, err = d.Screen(ctx); err != nil || !d.shows(shown) {
			return false, err
		}
		switch row := rowInBox(shown); {
		case row == 0 && shown.Cursor.X == firstColumn:
			over, silent = d.Write(ctx, d.commandSubmission(screen.Stashed(screen.Plain(shown.Text))), &shown.Cursor)
			return over || silent != nil, nil
		case !moved:
			moved, err = d.Write(ctx, strings.Repeat(lineStart, row+1), &shown.Cursor) // each one but the first moves up a row
		}
		return false, err
	})
	if fail.KindOf(err) == fail.TimedOut {
		err = d.changed(shown)
	}
	return silent, err
}

// commandSubmission returns the keys that submit only the command; the cursor is before it. They end like those of
// [delivery.submission], and delete the command: 2.1.197 still has it in the box after Enter.
func (d *delivery) commandSubmission(stashed bool) string {
	keys := cutTyped() + enter
	if stashed {
		return keys
	}
	return keys + strings.Repeat(deletion, utf8.RuneCountInString(d.text)) + putBack + backspace
}

// firstColumn is the column in which the text in the box begins.
const firstColumn = 2

// rowInBox returns the row of the box that the cursor is in; the first row is 0.
func rowInBox(shown tmux.Styled) (row int) {
	lines := strings.Split(screen.Plain(shown.Text), "\n")
	for ; row < shown.Cursor.Y; row++ {
		if at := shown.Cursor.Y - row; at < len(lines) && strings.HasPrefix(lines[at], "❯") {
			break
		}
	}
	return row
}

// changed returns the reason why a typed command is not submitted.
func (d *delivery) changed(shown tmux.Styled) error {
	if err := checkDialog(shown); err != nil {
		return err
	}
	if d.shows(shown) && screen.Indent(shown.Text) == 0 {
		return unreached()
	}
	return fail.Errorf(fail.Held, "its prompt does not show what was typed")
}

// checkSuggestion refuses a command if Claude would run another one: Enter takes the first command that is offered
// below the box, which may only resemble the typed word.
func (d *delivery) checkSuggestion(ctx context.Context) error {
	word, _, _ := strings.Cut(d.text, " ")
	var offered string
	begun := time.Now()
	seen := begun
	err := clock.Poll(ctx, drawLimit, func() (bool, error) {
		shown, err := d.Screen(ctx)
		switch {
		case err == nil && d.shows(shown):
			seen = time.Now()
		case err == nil && time.Since(seen) < settleLimit: // the screen is half drawn
			return false, nil
		case err == nil: // a person is typing too
			return false, d.changed(shown)
		}
		offered = screen.Suggestion(screen.Plain(shown.Text))
		nothing := offered == "" && word != d.text && time.Since(begun) >= offerTime // so it is for a command with arguments
		return offered == word || nothing, err
	})
	if fail.KindOf(err) != fail.TimedOut {
		return err
	}
	return fail.Errorf(fail.BadInput, "Claude has no command %s; it offers %s", human.Quote(word), human.Quote(offered)).
		Hint("to see what it has, type / in its terminal: nbs-worker attach %s", d.handle)
}

// offerTime is how long Claude usually takes to offer commands, at most.
const offerTime = 500 * time.Millisecond
