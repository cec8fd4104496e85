package typing

import (
	"context"
	"strings"
	"time"

	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/platform/tmux"
)

// eraser deletes the line that the cursor is in, and the line break before it.
const eraser = lineEnd + "\x15\x7f"

// takenBack deletes what is left of the text in the box, and returns why nothing was submitted. If the text cannot be
// deleted, the error says that too.
func (d *delivery) takenBack(ctx context.Context, why error) error {
	if erase(ctx, d, d.text, false) == nil {
		return why
	}
	return d.leftBehind(why)
}

// leftBehind adds to an error that the text could not be deleted from the box.
func (d *delivery) leftBehind(why error) error {
	return fail.Errorf(fail.KindOf(why), "%w; %w", why, errLeft).
		Hint("delete it there: nbs-worker attach %s", d.handle)
}

// Erase deletes a text that is in the box, or what is left of it. If the draft contains other text, a person wrote that,
// and Erase deletes nothing. Errors: TimedOut; those of the terminal.
func Erase(ctx context.Context, t Terminal, text string) error { return erase(ctx, t, text, true) }

// erase deletes a text, or what is left of it, from the box. If the draft contains other text, a person wrote that,
// and erase deletes nothing. An empty box counts as erased if the text was drawn there before. After each key, erase
// waits until claude has drawn the result: a person may have begun to type.
func erase(ctx context.Context, t Terminal, text string, drawn bool) error {
	var at tmux.Cursor // where the eraser was last pressed
	begun := time.Now()
	return clock.Poll(ctx, drawLimit, func() (bool, error) {
		shown, err := t.Screen(ctx)
		if err != nil {
			return false, err
		}
		_, found := screen.Draft(shown.Text)
		draft := screen.Uncovered(shown.Text) // the eraser leaves the character under the cursor
		switch isOurs := found && isPart(screen.Dense(draft), screen.Dense(text)); {
		case isOurs && draft == "" && drawn:
			return true, nil
		case at == tmux.Cursor{} && time.Since(begun) >= eraseLimit:
			return false, fail.Errorf(fail.TimedOut, "not seen within %s", eraseLimit)
		case !isOurs, draft == "", shown.Cursor == at:
			return false, nil
		}
		drawn = true
		reached, err := t.Write(ctx, eraser, &shown.Cursor)
		if reached {
			at = shown.Cursor
		}
		return false, err
	})
}

// isPart reports whether text is whole with some characters left out.
func isPart(text, whole string) bool {
	for _, r := range whole {
		if after, is := strings.CutPrefix(text, string(r)); is {
			text = after
		}
	}
	return text == ""
}
