package message

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/claude/transcript"
)

// Terminal is where claude reads.
type Terminal interface {
	// Screen is what it shows, with the attributes of its characters.
	Screen(ctx context.Context) (string, error)
	// Write gives it a text as if typed, and tells whether it reached the program.
	Write(ctx context.Context, text string) (bool, error)
}

// How long a delivery waits, and how often it looks: claude draws what is typed within some
// milliseconds, and writes a prompt down when its hooks have run.
const (
	drawLimit  = 3 * time.Second
	proofLimit = 10 * time.Second
	glance     = 15 * time.Millisecond
)

const enter = "\r"

// delivery is one text on its way into a prompt.
type delivery struct {
	Terminal
	text  string                          // as it is typed
	sent  func() (transcript.Sent, error) // whether the transcript has it
	alive func() bool                     // claude runs
}

// run types the text and proves that it arrived. An error beside Held is why nothing was
// submitted; beside Unknown, why that is not known.
func (d *delivery) run(ctx context.Context) (Word, transcript.Sent, error) {
	if err := d.checkPrompt(ctx); err != nil {
		return Held, transcript.Sent{}, err
	}
	if reached, err := d.Write(ctx, d.keys()); err != nil || !reached {
		return Held, transcript.Sent{}, unreached(err)
	}
	if err := d.awaitText(ctx); agent.KindOf(err) == agent.Held {
		return Held, transcript.Sent{}, errors.Join(err, d.takeBack(ctx))
	} else if err != nil {
		return Held, transcript.Sent{}, err
	}
	if reached, err := d.Write(ctx, enter); err != nil || !reached {
		return Held, transcript.Sent{}, unreached(err)
	}
	return d.awaitProof(ctx)
}

// keys is what is typed. A blank behind a text closes what Claude offers for a word with an @, which
// Enter would choose from, and keeps a backslash from turning Enter into a new line; Claude trims
// it. Behind a command Claude would write what may follow.
func (d *delivery) keys() string {
	if strings.HasPrefix(d.text, "/") {
		return d.text
	}
	return d.text + " "
}

// checkPrompt refuses to type where the text would not reach the prompt, or not alone.
// Errors: Held, TimedOut.
func (d *delivery) checkPrompt(ctx context.Context) error {
	shown, err := d.Screen(ctx)
	if err != nil {
		return err
	}
	if dialog := screen.Read(screen.Plain(shown)).Dialog; dialog != "" {
		return waitsFor(dialog)
	}
	switch draft, found := screen.Draft(shown); {
	case !found:
		return agent.Errorf(agent.Held, "its prompt is not on its screen")
	case draft != "":
		return agent.Errorf(agent.Held, "somebody's unsent draft is in its prompt: %s", agent.Quote(firstLine(draft)))
	}
	return nil
}

func waitsFor(dialog screen.Dialog) error {
	return agent.Errorf(agent.Held, "it waits for a person: %s", dialog.Waits())
}

// unreached is why a text did not reach the program; nothing was submitted.
func unreached(err error) error {
	if err != nil {
		return err
	}
	return agent.Errorf(agent.Held, "its pane takes no keys: somebody looks back in it, or claude has just gone")
}

// awaitText waits until the box shows the text: then Enter submits it, and answers no dialog.
func (d *delivery) awaitText(ctx context.Context) error {
	var shown, draft string
	err := until(ctx, drawLimit, func() (there bool, err error) {
		if shown, err = d.Screen(ctx); err == nil {
			draft, there = screen.Draft(shown)
		}
		return there && d.shows(draft), err
	})
	if agent.KindOf(err) != agent.TimedOut {
		return err
	}
	if dialog := screen.Read(screen.Plain(shown)).Dialog; dialog != "" {
		return waitsFor(dialog)
	}
	return agent.Errorf(agent.Held, "its prompt shows %s, and not what was typed; that was not submitted", agent.Quote(draft))
}

// eraser deletes a line before the cursor, and the line break before that.
const eraser = "\x15\x7f"

// takeBack deletes what is left of the text in the box, as long as nothing else is in it: what
// somebody's own keys had changed would be their draft for whoever comes next.
func (d *delivery) takeBack(ctx context.Context) error {
	err := until(ctx, drawLimit, func() (bool, error) {
		shown, err := d.Screen(ctx)
		if err != nil {
			return false, err
		}
		draft, found := screen.Draft(shown)
		if !found || draft == "" || !isPart(dense(draft), dense(d.text)) {
			return true, nil
		}
		reached, err := d.Write(ctx, eraser)
		return !reached, err
	})
	if agent.KindOf(err) == agent.TimedOut {
		return nil // the error beside it says what is there
	}
	return err
}

// isPart tells whether a text has nothing but characters of a whole, in their order.
func isPart(text, whole string) bool {
	for _, r := range whole {
		if after, is := strings.CutPrefix(text, string(r)); is {
			text = after
		}
	}
	return text == ""
}

// shows tells whether a box has the text and nothing else; of a long one it shows the end.
func (d *delivery) shows(draft string) bool {
	shown, whole := dense(draft), dense(d.text)
	return shown == whole || strings.Count(draft, "\n") >= boxLines && strings.HasSuffix(whole, shown)
}

// boxLines is the least height of a box in which a text is not shown whole.
const boxLines = 5

// dense is a text without what a terminal changes in it: blanks at the ends of its lines, and
// characters that have no width.
func dense(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
			return -1
		}
		return r
	}, text)
}

// awaitProof waits until the transcript has the text.
func (d *delivery) awaitProof(ctx context.Context) (Word, transcript.Sent, error) {
	var sent transcript.Sent
	ended := false
	err := until(ctx, proofLimit, func() (over bool, err error) {
		ended = !d.alive() // before the look: what it wrote last counts
		sent, err = d.sent()
		return sent.Found || ended, err
	})
	switch {
	case sent.UUID != "":
		return Accepted, sent, nil
	case sent.Found:
		return Queued, sent, nil
	case err == nil:
		err = agent.Errorf(agent.TimedOut, "it was submitted, claude ended, and the transcript does not have it")
	case agent.KindOf(err) == agent.TimedOut:
		err = agent.Errorf(agent.TimedOut, "it was submitted, and after %s the transcript does not have it", proofLimit)
	}
	return Unknown, sent, err
}

// until asks again and again for at most so long. Errors: TimedOut, Interrupted, those of ask.
func until(ctx context.Context, limit time.Duration, ask func() (bool, error)) error {
	late := time.NewTimer(limit)
	defer late.Stop()
	again := time.NewTicker(glance)
	defer again.Stop()
	for {
		if done, err := ask(); done || err != nil {
			return err
		}
		select {
		case <-again.C:
		case <-late.C:
			return agent.Errorf(agent.TimedOut, "not within %s", limit)
		case <-ctx.Done():
			return agent.Errorf(agent.Interrupted, "interrupted")
		}
	}
}
