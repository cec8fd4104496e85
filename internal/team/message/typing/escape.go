package typing

import (
	"cmp"
	"context"

	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/platform/tmux"
)

const escape = "\x1b"

// Escape presses Escape if claude is working and shows its box, and returns the screen from before. pressed is true also
// if tmux did not report whether it was pressed; err is then the reason. A dialog that opens in between has its cursor
// in another place, so it gets no key. Errors: those of working; Held.
func Escape(ctx context.Context, t Terminal, working func() (bool, error)) (before tmux.Styled, pressed bool, err error) {
	var silent error
	err = clock.Poll(ctx, drawLimit, func() (bool, error) {
		works, err := working()
		if err != nil || !works {
			return true, err
		}
		if before, err = t.Screen(ctx); err != nil {
			return false, err
		}
		if before.InMode {
			return false, errInMode()
		}
		if err := checkDialog(before); err != nil {
			return false, err
		}
		if _, found := screen.Draft(before.Text); !found {
			return false, nil
		}
		reached, err := t.Write(context.WithoutCancel(ctx), escape, &before.Cursor)
		silent, pressed = err, reached || err != nil
		return pressed, nil
	})
	if fail.KindOf(err) == fail.TimedOut {
		err = unreached()
	}
	return before, pressed, cmp.Or(err, silent)
}
