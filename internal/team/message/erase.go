package message

import (
	"context"
	"strings"

	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/fail"
)

// eraser deletes the line of the cursor, and the line break before that.
const eraser = lineEnd + "\x15\x7f"

// takenBack deletes what is left of the text in the box, and returns why nothing was submitted. Where
// it cannot be deleted, the error says that as well.
func (d *delivery) takenBack(ctx context.Context, why error) error {
	if erase(ctx, d, d.text, false) == nil {
		return why
	}
	return d.leftBehind(why)
}

// leftBehind adds to an error that a text could not be deleted from the box.
func (d *delivery) leftBehind(why error) error {
	return fail.Errorf(fail.KindOf(why), "%w; %w", why, errLeft).
		Hint("delete it there: nbs-worker attach %s", d.handle)
}

// erase deletes a text, or what is left of it, from the box. It leaves a draft with anything else in it:
// a person wrote that. An empty box counts as erased when the text was drawn there before.
func erase(ctx context.Context, t Terminal, text string, drawn bool) error {
	return until(ctx, eraseLimit, func() (bool, error) {
		shown, err := t.Screen(ctx)
		if err != nil {
			return false, err
		}
		draft, found := screen.Draft(shown.Text)
		switch {
		case !found || !isPart(screen.Dense(draft), screen.Dense(text)):
			return false, nil
		case draft == "":
			return drawn, nil
		}
		drawn = true
		_, err = t.Write(ctx, eraser, nil)
		return false, err
	})
}

// isPart reports if a text is a whole from which characters were left out.
func isPart(text, whole string) bool {
	for _, r := range whole {
		if after, is := strings.CutPrefix(text, string(r)); is {
			text = after
		}
	}
	return text == ""
}
