package telegram

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/clock"

	"github.com/cenkalti/backoff/v5"
)

// PerhapsAgain precedes a text that the chat may already have.
const PerhapsAgain = "(You may have this already: I was interrupted while telling it.)\n\n"

// patience is the time limit of a request, in addition to Telegram's wait for messages.
const patience = 30 * time.Second

// send writes a text to a chat, in one or more messages, and waits while Telegram cannot take them. Errors: NotFound
// (the chat blocked the bot), Held (the group became another chat), Failed (Telegram refuses the message), the
// context's.
func (b *Bridge) send(ctx context.Context, to Place, text string) error {
	if strings.TrimSpace(text) == "" {
		text = "(empty)" // Telegram has no empty messages
	}
	wait := b.backoff()
	for _, part := range split(text) {
		if err := b.sendPart(ctx, to, part, wait); err != nil {
			return err
		}
	}
	return nil
}

func (b *Bridge) sendPart(ctx context.Context, to Place, text string, wait *backoff.ExponentialBackOff) error {
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err := b.sendOnce(ctx, to, text)
		if isFinal(err) {
			return refusal(err)
		}
		b.log("write to %s: %v: it is tried again", to, err)
		if err := clock.Sleep(ctx, retryAfter(err, wait)); err != nil {
			return err
		}
		if mayHaveArrived(err) && !strings.HasPrefix(text, PerhapsAgain) {
			return b.send(ctx, to, PerhapsAgain+text) // which may make it too long for one message
		}
	}
}

// sendOnce makes one request. It continues when the bridge ends: a canceled request may or may not have arrived.
func (b *Bridge) sendOnce(ctx context.Context, to Place, text string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return b.call(ctx, "sendMessage", to.with(map[string]any{"text": text}), nil)
}

// isFinal reports whether another attempt to send a message would end in the same way: it succeeded, or was refused for
// good. A refused token is not final, since the message did not cause it.
func isFinal(err error) bool {
	code := refusedIn(err).Code
	return err == nil || code == http.StatusForbidden || code == http.StatusBadRequest
}

// isOfToken reports whether Telegram refused the token.
func isOfToken(err error) bool {
	code := refusedIn(err).Code
	return code == http.StatusUnauthorized || code == http.StatusNotFound
}

// refusal returns what a final error means for the chat; nil for success.
func refusal(err error) error {
	switch refused := refusedIn(err); {
	case err == nil:
		return nil
	case refused.Parameters.MigrateTo != 0:
		return fail.Errorf(fail.Held, "the group became chat %d: allow that one", refused.Parameters.MigrateTo)
	case refused.Code == http.StatusForbidden:
		return fail.Errorf(fail.NotFound, "the chat does not take messages of the bot: %s", err)
	}
	return fail.Errorf(fail.Failed, "Telegram refused a message: %s", err)
}

// mayHaveArrived reports whether a failed request may have been carried out. It was not if Telegram asked for a pause
// or refused the token, or if there was no connection. An answer from a gateway proves nothing.
func mayHaveArrived(err error) bool {
	if refusedIn(err).Code == http.StatusTooManyRequests || isOfToken(err) {
		return false
	}
	network, is := errors.AsType[*net.OpError](err)
	return !is || network.Op != "dial"
}

// backoff returns the pauses between attempts.
func (b *Bridge) backoff() *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{InitialInterval: b.Pause, Multiplier: 2, RandomizationFactor: 0.2, MaxInterval: max(b.Pause, time.Minute)}
}

// retryAfter returns how long to wait after an error: as long as Telegram asks for, if it does.
func retryAfter(err error, wait *backoff.ExponentialBackOff) time.Duration {
	if asked := askedFor(err); asked > 0 {
		return asked
	}
	return wait.NextBackOff()
}

// askedFor returns the pause that Telegram requests with an error; 0 if it requests none.
func askedFor(err error) time.Duration {
	return time.Duration(refusedIn(err).Parameters.RetryAfter) * time.Second
}

// typing shows in the chat that its message is being processed, until stop is called.
func (b *Bridge) typing(ctx context.Context, at Place) (stop func()) {
	const shown = 5 * time.Second // how long Telegram shows it
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			request, end := context.WithTimeout(ctx, shown)
			err := b.call(request, "sendChatAction", at.with(map[string]any{"action": "typing"}), nil)
			end()
			if clock.Sleep(ctx, max(shown-time.Second, askedFor(err))) != nil { // a failure to show it does no harm
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}
