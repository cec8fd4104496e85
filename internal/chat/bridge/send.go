package bridge

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/clock"

	"github.com/cenkalti/backoff/v5"
)

// PerhapsAgain precedes a message that the chat may already have.
const PerhapsAgain = "(You may have this already: I was interrupted while telling it.)\n\n"

// patience is the time limit of a request.
const patience = 30 * time.Second

// say sends text other than an answer. If a group became another chat, that text is dropped. The error is the
// context's.
func (b *Bridge) say(ctx context.Context, c *chat, text string) error {
	return b.sayPieces(ctx, c, []Piece{b.plain(text)})
}

func (b *Bridge) sayPieces(ctx context.Context, c *chat, text []Piece) error {
	_ = b.write(ctx, c, func() error { return b.send(ctx, c.place, text...) })
	return ctx.Err()
}

// write calls send, which writes to a chat. If the chat blocked the bot, that is logged once, and messages are dropped
// until the chat writes again. Errors: the context's; Held when the group became another chat; Failed when the system
// refuses the text, which then was not sent completely.
func (b *Bridge) write(ctx context.Context, c *chat, send func() error) error {
	if c.isBlocked() {
		return nil
	}
	err := c.writing.during(ctx, send)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return ctx.Err()
	case fail.KindOf(err) == fail.NotFound:
		c.change(func() { c.blocked = true })
		b.log("write to %s: %v: messages to it are dropped until it writes again", c.place, err)
	default:
		b.log("write to %s: %v", c.place, err)
		return err
	}
	return nil
}

// send writes a text to a place, in one or more messages, and waits while the system cannot take them. Errors: NotFound
// (the chat blocked the bot), Held (the group became another chat), Failed (the system refuses the message), the
// context's.
func (b *Bridge) send(ctx context.Context, to Place, text ...Piece) error {
	return b.sendSaying(ctx, to, saying{id: rand.Text(), text: text})
}

// saying is a text of the bridge's. The id is the same when the next bridge says it again.
type saying struct {
	id      string
	before  string // precedes the text
	text    []Piece
	choices []Choice // below the text
}

func (b *Bridge) sendSaying(ctx context.Context, to Place, s saying) error {
	text := s.text
	parts := b.System.Format(text...)
	if len(parts) == 0 {
		parts = b.System.Format(Piece{Text: "(empty)"}) // there are no empty messages
	}
	for i, part := range parts {
		if i == 0 {
			part.Before = s.before
		}
		if i == len(parts)-1 {
			part.Choices = s.choices
		}
		if err := b.sendPart(ctx, to, fmt.Sprintf("%s:%d", s.id, i), part); err != nil {
			return err
		}
	}
	return nil
}

// sendPart sends a message. The id is the same when the next bridge does so again.
func (b *Bridge) sendPart(ctx context.Context, to Place, id string, m Message) error {
	return b.persist(ctx, to, func(perhapsAgain bool) error {
		if perhapsAgain && !strings.HasPrefix(m.Text, PerhapsAgain) {
			m.Before = PerhapsAgain
		}
		_, err := b.sendOnce(ctx, to, id, m)
		return err
	})
}

// isOnce reports whether a message that may have been sent at a time is one message when it is sent again.
func (b *Bridge) isOnce(at time.Time) bool { return time.Since(at) < b.traits.SendsOnceFor }

// persist makes a request until it is carried out or refused for good. It tells each attempt whether an earlier one may
// have been carried out, and would be repeated. Errors: those of send.
func (b *Bridge) persist(ctx context.Context, to Place, attempt func(perhapsAgain bool) error) error {
	wait := Backoff(b.Pause)
	var inDoubt time.Time // when the first attempt began that may have been carried out
	for {
		if _ = clock.Sleep(ctx, b.writePause(to)); ctx.Err() != nil {
			return ctx.Err()
		}
		began := time.Now().Round(0) // the time that passes while the machine sleeps counts too
		err := attempt(!inDoubt.IsZero() && !b.isOnce(inDoubt))
		failure := FailureOf(err)
		if err == nil || failure.Final {
			return err
		}
		b.log("write to %s: %v: it is tried again", to, err)
		if failure.After > 0 {
			b.pause(to, failure.After)
		}
		if err := clock.Sleep(ctx, retryAfter(err, wait)); err != nil {
			return err
		}
		if inDoubt.IsZero() && !failure.NotDone {
			inDoubt = began
		}
	}
}

// sendOnce sends a message and returns which it is.
func (b *Bridge) sendOnce(ctx context.Context, to Place, id string, m Message) (is Sent, err error) {
	ctx, cancel := finishing(ctx)
	defer cancel()
	err = b.there(ctx, to, func(to Place) (err error) {
		is, err = b.System.Send(ctx, to, id, m)
		return err
	})
	return is, err
}

// editOnce replaces the text of a message. To do so once more changes nothing.
func (b *Bridge) editOnce(ctx context.Context, is Sent, m Message) error {
	ctx, cancel := finishing(ctx)
	defer cancel()
	return b.System.Edit(ctx, is, m)
}

// finishing returns the context of a request that goes on when the bridge ends: a canceled one may or may not have
// arrived.
func finishing(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), patience)
}

// Backoff returns the pauses between attempts.
func Backoff(first time.Duration) *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{InitialInterval: first, Multiplier: 2, RandomizationFactor: 0.2, MaxInterval: max(first, time.Minute)}
}

// retryAfter returns how long to wait after an error: as long as the system asks for, if it does.
func retryAfter(err error, wait *backoff.ExponentialBackOff) time.Duration {
	if asked := FailureOf(err).After; asked > 0 {
		return asked
	}
	return wait.NextBackOff()
}

// typing shows in the chat that its message is being processed, until stop is called.
func (b *Bridge) typing(ctx context.Context, at Place) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	show := func(ctx context.Context, is bool) error {
		request, end := context.WithTimeout(ctx, b.traits.Typing)
		defer end()
		return b.there(request, at, func(to Place) error { return b.System.Typing(request, to, is) })
	}
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			err := show(ctx, true)
			if clock.Sleep(ctx, max(b.traits.Typing-time.Second, FailureOf(err).After)) != nil { // a failure to show it does no harm
				_ = show(context.WithoutCancel(ctx), false)
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}
