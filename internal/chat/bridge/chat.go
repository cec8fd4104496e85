package bridge

import (
	"context"
	"slices"
	"sync"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/clock"
)

// chat is a served place. One worker accepts its messages in order, another sends the answers in order.
type chat struct {
	place   Place
	key     string
	updates *inbox

	gathering []gathered // messages that may get further parts; only takeIn uses it
	got       int        // updates that takeIn got

	grew time.Time // when the answer that is being told began to grow; zero: it did not

	writing turn
	urgency

	mu      sync.Mutex
	waiting []string      // ids of accepted messages whose answers were not sent; the first is being answered
	held    bool          // the first waits for something other than its turn
	blocked bool          // the user has blocked the bot
	changed chan struct{} // closed, and replaced, at each change of the above
}

// incoming is a message of a chat. done is called when it is durable.
type incoming struct {
	Incoming

	update  *Update
	updates []*Update // its parts; the one, if it has no others
	group   bool      // the chat was a group when it was written
	isFor   bool      // it is for the bot
	isEdit  bool      // it changes an earlier message
	heard   string    // of a voice message, for the chat
	noted   bool      // it was noted: the system does not keep it any more
	done    func()
	before  int // messages of the chat before an urgent one

	stopped <-chan struct{} // closed when the turn was stopped with which a command begins; nil: with none
}

// chat returns the chat of a place, and starts its workers.
func (b *Bridge) chat(ctx context.Context, at Place) *chat {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.chats[at]
	if c == nil {
		c = &chat{
			place: at, key: b.key(at), updates: newInbox(), changed: make(chan struct{}),
			urgency: urgency{urgent: newInbox(), behind: map[string]int{}}, writing: b.turnOf(at),
		}
		b.chats[at] = c
		b.workers.Go(func() { b.takeIn(ctx, c) })
		b.workers.Go(func() { b.tellAnswers(ctx, c) })
		b.workers.Go(func() { b.answerUrgent(ctx, c) })
	}
	return c
}

// change calls how with the lock held, and wakes the workers.
func (c *chat) change(how func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	how()
	close(c.changed)
	c.changed = make(chan struct{})
}

// await waits until is, called with the lock held, returns true; false when the context ended first.
func (c *chat) await(ctx context.Context, is func() bool) bool {
	for {
		c.mu.Lock()
		so, changed := is(), c.changed
		c.mu.Unlock()
		if so {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// expect queues a message for tellAnswers.
func (c *chat) expect(id string) { c.change(func() { c.waiting = append(c.waiting, id) }) }

func (c *chat) isExpected(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Contains(c.waiting, id)
}

func (c *chat) isBlocked() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.blocked
}

// takeIn processes what the user writes, until the context ends.
func (b *Bridge) takeIn(ctx context.Context, c *chat) {
	for {
		m, is := b.next(ctx, c)
		if !is {
			return
		}
		c.change(func() { c.blocked = false }) // a user who has blocked the bot cannot write to it
		b.takeMessage(ctx, c, m)
	}
}

func (b *Bridge) takeMessage(ctx context.Context, c *chat, m incoming) {
	if m.isEdit {
		b.takeEdit(ctx, c, m)
		return
	}
	if name, rest, is := b.commandOf(&m); is {
		b.takeCommand(ctx, c, m, name, rest)
		return
	}
	if handle, is := b.forAgent(ctx, c, &m); is {
		b.writeToAgent(ctx, c, m, handle)
		return
	}
	if b.isNew(ctx, c, m) && b.fetch(ctx, c, &m) {
		b.accept(ctx, c, m)
	}
}

// isNew reports whether a message was not accepted yet, as by an earlier bridge.
func (b *Bridge) isNew(ctx context.Context, c *chat, m incoming) bool {
	parts, err := b.accepted(ctx, c, m.Incoming)
	if err == nil && len(parts) > 0 {
		m.done()
	}
	return err == nil && len(parts) == 0
}

// accepted returns the ids of the parts of the accepted message that m is a part of. The error is the context's.
func (b *Bridge) accepted(ctx context.Context, c *chat, m Incoming) (parts []string, err error) {
	if c.isExpected(m.ID) && len(m.Parts) == 0 {
		return []string{m.ID}, nil
	}
	var untold bool
	err = b.retry(ctx, "look up a message", func() (err error) {
		parts, untold, err = b.Deliveries.Accepted(ctx, m)
		return err
	})
	if untold {
		c.expect(parts[0])
	}
	return parts, err
}

// accept puts a message into the chat's queue. It retries until the message is accepted or refused.
func (b *Bridge) accept(ctx context.Context, c *chat, m incoming) {
	wait := Backoff(b.Pause)
	for told := false; ; told = true {
		err := b.Chats.Accept(ctx, m.Incoming)
		switch {
		case err == nil:
			c.expect(m.ID)
			m.done()
			if m.heard != "" {
				_ = b.say(ctx, c, "I heard: "+m.heard) // it is accepted anyway
			}
			b.sayAhead(ctx, c, m.ID)
			return
		case ctx.Err() != nil:
			return
		case isRefusal(err):
			if b.say(ctx, c, "Your message was not taken: "+b.words(err)+". Send it again later.") == nil {
				b.finish(ctx, &m)
			}
			return
		}
		b.log("accept a message of %s: %v: it is tried again", c.place, err)
		if !told && b.say(ctx, c, "Your message could not be kept yet: "+b.words(err)+". It is tried again until it can.") != nil {
			return
		}
		if clock.Sleep(ctx, wait.NextBackOff()) != nil {
			return
		}
	}
}

// isRefusal reports whether another attempt would end with the same error.
func isRefusal(err error) bool {
	switch fail.KindOf(err) {
	case fail.Conflict, fail.BadInput, fail.NotFound, fail.Unfit, fail.Held:
		return true
	}
	return false
}

func (b *Bridge) sayAhead(ctx context.Context, c *chat, id string) {
	ahead, err := b.Chats.Ahead(ctx, c.key, id)
	if err != nil {
		b.log("look at the queue of %s: %v", c.place, err)
	}
	if ahead > 0 {
		_ = b.say(ctx, c, "Queued: "+human.Count(ahead, "message")+" before this one. It is answered after that.") // it is kept anyway
	}
}

// tellAnswers sends the answers in the order of the messages, until the context ends.
func (b *Bridge) tellAnswers(ctx context.Context, c *chat) {
	var id string
	next := func() bool {
		if len(c.waiting) > 0 {
			id = c.waiting[0]
		}
		return len(c.waiting) > 0
	}
	for c.await(ctx, next) {
		if b.tellAnswer(ctx, c, id) != nil {
			return
		}
		c.change(func() { c.waiting, c.held = c.waiting[1:], false })
	}
}

// tellAnswer waits for the answer to a message and sends it. If the group became another chat, the answer stays
// recorded as being sent. The error is the context's.
func (b *Bridge) tellAnswer(ctx context.Context, c *chat, id string) error {
	answer, err := b.answer(ctx, c, id)
	if err != nil {
		return err
	}
	if answer.isToldAlready() { // what had been written by then is left
		return b.retry(ctx, "note that a stop was told", func() error { return b.Deliveries.NoteDelivered(ctx, c.key, id, "") })
	}
	var again bool
	if err := b.retry(ctx, "note that an answer is told", func() (err error) {
		again, err = b.Deliveries.NoteTelling(ctx, c.key, id)
		return err
	}); err != nil {
		return err
	}
	untold := ""
	switch err := b.write(ctx, c, func() error { return b.deliver(ctx, c, id, answer, again) }); {
	case ctx.Err() != nil && err != nil:
		return ctx.Err()
	case err != nil && fail.KindOf(err) == fail.Held:
		return nil
	case err != nil:
		untold = b.words(err)
		if err := b.say(ctx, c, "I could not tell you an answer, or not all of it: "+untold+". The owner of the bot can read it."); err != nil {
			return err
		}
	}
	return b.retry(ctx, "note that an answer was told", func() error {
		return b.Deliveries.NoteDelivered(context.WithoutCancel(ctx), c.key, id, untold) // it was sent, even if the bridge ends now
	})
}

// answer waits for the final answer to a message, and reports what delays it until then.
func (b *Bridge) answer(ctx context.Context, c *chat, id string) (Answer, error) {
	var told Answer
	wait := Backoff(b.Pause)
	stop := b.typing(ctx, c.place)
	growing := b.grow(ctx, c, id)
	defer func() { stop(); growing.stop(); c.grew = growing.since }()
	for {
		answer, err := b.Chats.Answer(ctx, c.key, id, told)
		switch {
		case ctx.Err() != nil:
			return Answer{}, ctx.Err()
		case err != nil && isRefusal(err):
			return Answer{Class: "lost", Error: b.words(err)}, nil
		case err != nil:
			b.log("wait for an answer of %s: %v: it is tried again", c.place, err)
			if err := clock.Sleep(ctx, wait.NextBackOff()); err != nil {
				return Answer{}, err
			}
		case answer.isToldAlready():
			growing.stop()
			return answer, b.leave(ctx, c, id, growing.written())
		case !answer.isHeld():
			return answer, nil
		default:
			stop()
			stop = func() {}
			growing.stop()
			if err := b.withdraw(ctx, c, id); err != nil {
				return Answer{}, err
			}
			growing = b.grow(ctx, c, id)
			told = answer
			c.change(func() { c.held = true })
			if answer.Known {
				continue
			}
			if err := b.sayPieces(ctx, c, b.compose(c.key, answer)); err != nil {
				return Answer{}, err
			}
		}
	}
}

// retry repeats do until it succeeds or the context ends.
func (b *Bridge) retry(ctx context.Context, what string, do func() error) error {
	wait := Backoff(b.Pause)
	for {
		err := do()
		if err == nil {
			return nil
		}
		b.log("%s: %v: it is tried again", what, err)
		if err := clock.Sleep(ctx, wait.NextBackOff()); err != nil {
			return err
		}
	}
}
