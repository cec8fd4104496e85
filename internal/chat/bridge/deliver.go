package bridge

import (
	"context"
	"fmt"
	"strings"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// An answer of more messages than mostParts is told as its beginning, and as a file.
const (
	mostParts  = 5
	beginning  = 2        // messages
	mostSource = 64 << 10 // bytes: more are more than mostParts messages
)

// wholeName is the name of the file with a whole answer.
const wholeName = "answer.md"

// deliver sends an answer, and begins with the message in which it grew. again: an earlier attempt may have sent it, or
// a part. Errors: those of send.
func (b *Bridge) deliver(ctx context.Context, c *chat, id string, a Answer, again bool) error {
	shown, err := b.shown(ctx, c, id)
	if err != nil {
		return err
	}
	inPlace := c.grew.IsZero() || time.Since(c.grew) < b.InPlace
	steps := b.steps(ctx, c, id, shown.Sent, inPlace, a)
	first := shown.Parts // an earlier attempt noted what it had sent before it began the next
	for i := first; i < len(steps); i++ {
		if err := steps[i](again && i == first && !b.isOnce(b.traits.LastRun)); err != nil {
			return err
		}
		if shown.Parts = i + 1; shown.Parts < len(steps) {
			if err := b.noteShown(ctx, c, id, shown); err != nil {
				return err
			}
		}
	}
	return nil
}

// steps returns what sends each part of an answer. inPlace: the first takes the place of what grew. A step that may have been taken says so, unless it can be repeated.
func (b *Bridge) steps(ctx context.Context, c *chat, id string, grown Sent, inPlace bool, a Answer) (steps []func(inDoubt bool) error) {
	to := c.place
	parts, whole := b.parts(c.key, a)
	told := parts
	if whole != "" {
		told = parts[:min(beginning, len(parts))]
	}
	send := func(i int, inDoubt bool) error {
		m := parts[i]
		if inDoubt {
			m.Before = PerhapsAgain
		}
		return b.sendPart(ctx, to, fmt.Sprintf("%s:answer:%d", id, i), m)
	}
	for i, m := range told {
		steps = append(steps, func(inDoubt bool) error {
			if i == 0 && grown.Message != "" && (inPlace || b.remove(ctx, grown) != nil) {
				if is, err := b.rewrite(ctx, to, grown, m); is || err != nil {
					return err
				}
				_ = b.remove(ctx, grown) // the user may have done so
			}
			return send(i, inDoubt)
		})
	}
	if whole == "" {
		return steps
	}
	return append(steps, func(inDoubt bool) error {
		caption := "The whole answer."
		if inDoubt {
			caption = PerhapsAgain + caption
		}
		err := b.sendFile(ctx, to, id+":answer:file", Upload{Name: wholeName, Content: strings.NewReader(whole), Caption: caption})
		if err == nil || ctx.Err() != nil || fail.KindOf(err) != fail.Failed {
			return err
		}
		for i := len(told); i < len(parts); i++ { // the file was refused
			if err := send(i, inDoubt); err != nil {
				return err
			}
		}
		return nil
	})
}

// parts returns the messages of an answer. Of one that is too long for messages, whole is what its file has, and there
// may be only the first messages.
func (b *Bridge) parts(key string, a Answer) (parts []Message, whole string) {
	source := b.hide(a.Text)
	if a.Class == "" && len(source) > mostSource { // the parser would take long, for what is not shown
		a.Text = source[:human.Prefix(source, mostSource/2, func(r rune) int { return len(string(r)) })]
		whole = source
	}
	parts = b.System.Format(b.compose(key, a)...)
	if a.Class == "" && len(parts) > mostParts {
		whole = source
	}
	return parts, whole
}

// rewrite makes a message of the bot's say something else. It can be repeated. It returns false if that message is gone.
func (b *Bridge) rewrite(ctx context.Context, to Place, grown Sent, m Message) (is bool, err error) {
	err = b.persist(ctx, to, func(bool) error { return b.editOnce(ctx, grown, m) })
	if kind := fail.KindOf(err); err != nil && ctx.Err() == nil && (kind == fail.Failed || kind == fail.Held) { // Held: the group moved
		return false, nil
	}
	return err == nil, err
}

// leave leaves in the chat what was written of an answer that its user has stopped.
func (b *Bridge) leave(ctx context.Context, c *chat, id, written string) error {
	shown, err := b.shown(ctx, c, id)
	switch {
	case err != nil || shown.Message == "":
		return err
	case written == "": // an earlier bridge knew
		return b.withdraw(ctx, c, id)
	}
	_ = b.write(ctx, c, func() error {
		_, err := b.rewrite(ctx, c.place, shown.Sent, Message{Text: written + "\n\n(Stopped.)"})
		return err
	})
	return ctx.Err()
}

// withdraw deletes the message in which an answer grew: it is not answered yet.
func (b *Bridge) withdraw(ctx context.Context, c *chat, id string) error {
	shown, err := b.shown(ctx, c, id)
	if err != nil || shown.Message == "" {
		return err
	}
	_ = b.write(ctx, c, func() error {
		return b.persist(ctx, c.place, func(bool) error { return b.remove(ctx, shown.Sent) })
	})
	if ctx.Err() != nil || c.isBlocked() {
		return ctx.Err()
	}
	return b.noteShown(ctx, c, id, Shown{})
}

// remove deletes a message of the bot's.
func (b *Bridge) remove(ctx context.Context, grown Sent) error {
	ctx, cancel := finishing(ctx)
	defer cancel()
	return b.System.Delete(ctx, grown)
}

func (b *Bridge) shown(ctx context.Context, c *chat, id string) (s Shown, err error) {
	err = b.retry(ctx, "look up what was told", func() error {
		s, err = b.Deliveries.Shown(ctx, c.key, id)
		return err
	})
	return s, err
}

func (b *Bridge) noteShown(ctx context.Context, c *chat, id string, s Shown) error {
	return b.retry(ctx, "note what was told", func() error {
		return b.Deliveries.NoteShown(context.WithoutCancel(ctx), c.key, id, s)
	})
}
