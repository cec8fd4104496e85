package message

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/tmux"
)

// A command of Claude's own is seen in the box before Enter: Claude may offer another one for it. So Enter comes in a write
// of its own. The cursor is at the beginning of the box then: what a person has typed in the moment before, and claude not
// drawn yet, stands before the command; it is cut there, and put back, in the same write.

// awaitCommand waits until the box shows the command and nothing before it, and Claude offers no other one for it. A blank
// that was drawn late is taken away, once: behind it, Claude offers nothing, and 2.1.197 gives the model the command as
// words. Errors: Held; BadInput.
func (d *delivery) awaitCommand(ctx context.Context) error {
	var shown tmux.Styled
	var at tmux.Cursor // where blanks were taken away
	err := poll(ctx, drawLimit, func() (there bool, err error) {
		if shown, err = d.Screen(ctx); err != nil {
			return false, err
		}
		draft, _ := screen.Draft(shown.Text)
		blanks := screen.Indent(shown.Text)
		if blanks == 0 || shown.Cursor == at || strings.Contains(draft, "\n") { // claude has yet to draw that; Home leads to a later line
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

// submit moves the cursor before the command, and presses Enter where the box shows it so. silent is why tmux did not say
// whether it has. If Claude moves the box meanwhile, or opens a dialog, then the cursor is elsewhere: nothing is pressed,
// and submit looks again. Errors: Held.
func (d *delivery) submit(ctx context.Context) (silent, err error) {
	var shown tmux.Styled
	moved := false // once: a second time, it would move behind what a person has typed there
	err = poll(ctx, drawLimit, func() (over bool, err error) {
		if shown, err = d.Screen(ctx); err != nil || !d.shows(shown) {
			return false, err
		}
		switch row := rowInBox(shown); {
		case row == 0 && shown.Cursor.X == firstColumn:
			over, silent = d.Write(ctx, d.commandSubmission(screen.Stashed(screen.Plain(shown.Text))), &shown.Cursor)
			return over || silent != nil, nil
		case !moved:
			moved, err = d.Write(ctx, strings.Repeat(lineStart, row+1), &shown.Cursor) // each but the first goes a row up
		}
		return false, err
	})
	if fail.KindOf(err) == fail.TimedOut {
		err = d.changed(shown)
	}
	return silent, err
}

// commandSubmission are the keys that submit the command before which the cursor is, and nothing else. They end as those of
// [delivery.submission] do; 2.1.197 still has the command in the box when it takes the keys behind Enter, so it is deleted.
func (d *delivery) commandSubmission(stashed bool) string {
	keys := cutTyped() + enter
	if stashed {
		return keys
	}
	return keys + strings.Repeat(deletion, utf8.RuneCountInString(d.text)) + putBack + backspace
}

// firstColumn is where the text in the box begins.
const firstColumn = 2

// rowInBox is in which row of the box the cursor is; the first one is 0.
func rowInBox(shown tmux.Styled) (row int) {
	lines := strings.Split(screen.Plain(shown.Text), "\n")
	for ; row < shown.Cursor.Y; row++ {
		if at := shown.Cursor.Y - row; at < len(lines) && strings.HasPrefix(lines[at], "❯") {
			break
		}
	}
	return row
}

// changed is why a command that was typed is not submitted.
func (d *delivery) changed(shown tmux.Styled) error {
	if err := checkDialog(shown); err != nil {
		return err
	}
	if d.shows(shown) && screen.Indent(shown.Text) == 0 {
		return unreached()
	}
	return fail.Errorf(fail.Held, "its prompt does not show what was typed")
}

// checkSuggestion refuses a command in place of which Claude would run another: Enter takes the first
// one that is offered below the box, and that may merely resemble the word.
func (d *delivery) checkSuggestion(ctx context.Context) error {
	word, _, _ := strings.Cut(d.text, " ")
	var offered string
	begun := time.Now()
	seen := begun
	err := poll(ctx, drawLimit, func() (bool, error) {
		shown, err := d.Screen(ctx)
		switch {
		case err == nil && d.shows(shown):
			seen = time.Now()
		case err == nil && time.Since(seen) < settleLimit: // the screen is half drawn
			return false, nil
		case err == nil: // a person types too
			return false, d.changed(shown)
		}
		offered = screen.Suggestion(screen.Plain(shown.Text))
		nothing := offered == "" && word != d.text && time.Since(begun) >= offerTime // as for a command with arguments
		return offered == word || nothing, err
	})
	if fail.KindOf(err) != fail.TimedOut {
		return err
	}
	return fail.Errorf(fail.BadInput, "Claude has no command %s; it offers %s", human.Quote(word), human.Quote(offered)).
		Hint("to see what it has, type / in its terminal: nbs-worker attach %s", d.handle)
}

// offerTime is how long Claude usually takes at most to offer commands.
const offerTime = 500 * time.Millisecond
