package telegram

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"time"

	"nbs-worker/internal/chat/telegram/format"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/clock"

	"github.com/cenkalti/backoff/v5"
)

// PerhapsAgain precedes a message that the chat may already have.
const PerhapsAgain = "(You may have this already: I was interrupted while telling it.)\n\n"

// patience is the time limit of a request, in addition to Telegram's wait for messages.
const patience = 30 * time.Second

// say sends text other than an answer. If a group became another chat, that text is dropped. The error is the
// context's.
func (b *Bridge) say(ctx context.Context, c *chat, text string) error {
	_ = b.write(ctx, c, func() error { return b.send(ctx, c.place, b.plain(text)) })
	return ctx.Err()
}

// write calls send, which writes to a chat. If the chat blocked the bot, that is logged once, and messages are dropped
// until the chat writes again. Errors: the context's; Held when the group became another chat; Failed when Telegram
// refuses the text, which then was not sent completely.
func (b *Bridge) write(ctx context.Context, c *chat, send func() error) error {
	if c.isBlocked() {
		return nil
	}
	c.writing.Lock() // keeps the parts of a long answer together
	err := send()
	c.writing.Unlock()
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

// send writes a text to a place, in one or more messages, and waits while Telegram cannot take them. Errors: NotFound
// (the chat blocked the bot), Held (the group became another chat), Failed (Telegram refuses the message), the
// context's.
func (b *Bridge) send(ctx context.Context, to Place, text format.Text) error {
	if text.IsBlank() {
		text = format.Plain("(empty)") // Telegram has no empty messages
	}
	for _, part := range text.Messages() {
		if err := b.sendPart(ctx, to, part); err != nil {
			return err
		}
	}
	return nil
}

func (b *Bridge) sendPart(ctx context.Context, to Place, m format.Message) error {
	return b.persist(ctx, to, func(perhapsAgain bool) error {
		if perhapsAgain && !strings.HasPrefix(m.Text, PerhapsAgain) {
			m = m.After(PerhapsAgain)
		}
		_, err := b.sendOnce(ctx, to, m, false)
		return err
	})
}

// persist makes a request until it is carried out or refused for good. It tells each attempt whether an earlier one may
// have been carried out. Errors: those of send.
func (b *Bridge) persist(ctx context.Context, to Place, attempt func(perhapsAgain bool) error) error {
	wait := b.backoff()
	for perhapsAgain := false; ; {
		if _ = clock.Sleep(ctx, b.writePause(to)); ctx.Err() != nil {
			return ctx.Err()
		}
		err := attempt(perhapsAgain)
		if isFinal(err) {
			return refusal(err)
		}
		b.log("write to %s: %v: it is tried again", to, err)
		if asked := askedFor(err); asked > 0 {
			b.grew(to, asked)
		}
		if err := clock.Sleep(ctx, retryAfter(err, wait)); err != nil {
			return err
		}
		perhapsAgain = perhapsAgain || mayHaveArrived(err)
	}
}

// sendOnce sends a message and returns which it is. Of a quiet one no phone gives notice.
func (b *Bridge) sendOnce(ctx context.Context, to Place, m format.Message, quiet bool) (is Shown, err error) {
	var sent struct {
		ID   int64 `json:"message_id"`
		Chat struct {
			ID int64 `json:"id"`
		} `json:"chat"`
	}
	params := to.with(map[string]any{"text": m.Text})
	if quiet {
		params["disable_notification"] = true
	}
	err = b.formatted(ctx, "sendMessage", params, m.Entities, &sent)
	return Shown{Message: sent.ID, Chat: sent.Chat.ID}, err
}

// editOnce replaces the text of a message. To do so once more changes nothing.
func (b *Bridge) editOnce(ctx context.Context, is Shown, m format.Message) error {
	params := map[string]any{"chat_id": is.Chat, "message_id": is.Message, "text": m.Text}
	err := b.formatted(ctx, "editMessageText", params, m.Entities, nil)
	if isUnchanged(err) {
		return nil
	}
	return err
}

// isUnchanged reports whether Telegram refused an edit because the message already says so.
func isUnchanged(err error) bool {
	return strings.Contains(refusedIn(err).Description, "message is not modified")
}

// formatted makes one request with a text. If Telegram refuses it with its entities, it is made once without them. It
// continues when the bridge ends: a canceled request may or may not have arrived.
func (b *Bridge) formatted(ctx context.Context, method string, params map[string]any, entities []format.Entity, result any) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if len(entities) == 0 {
		return b.call(ctx, method, params, result)
	}
	params["entities"] = entities
	err := b.call(ctx, method, params, result)
	if refused := refusedIn(err); refused.Code != http.StatusBadRequest || refused.Parameters.MigrateTo != 0 || isUnchanged(err) {
		return err
	}
	delete(params, "entities")
	again := b.call(ctx, method, params, result)
	if again == nil {
		b.log("Telegram refused the formatting of a message, which is plain now: %v", err)
	}
	return again
}

// isFinal reports whether another attempt to send a message would end in the same way: it succeeded, or was refused for
// good, or its file cannot be read, or takes too long. A refused token is not final, since the message did not cause it.
func isFinal(err error) bool {
	_, unread := errors.AsType[*fs.PathError](err)
	if err == nil || unread || errors.Is(err, errSlow) {
		return true
	}
	switch code := refusedIn(err).Code; code {
	case http.StatusUnauthorized, http.StatusNotFound, http.StatusConflict, http.StatusTooManyRequests:
		return false
	default:
		return code >= 400 && code < 500
	}
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
	case refused.Code == 0:
		return fail.Errorf(fail.Failed, "%w", err)
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
