package bridge

import (
	"context"
	"strings"
	"time"

	"nbs-worker/internal/fail"
)

// Commands about the turn that runs do not wait behind the messages of their chat, nor behind a reset that waits for
// their answers: another worker answers them.

// urgency is the part of a chat for urgent messages.
type urgency struct {
	urgent    *inbox
	passed    int  // updates that were passed to takeIn
	taken     int  // of these, those that it has processed
	resetting bool // takeIn waits for answers, to begin a new conversation

	open   int            // urgent messages that were not answered yet
	behind map[string]int // what came since the first of them: how many updates were before it, by its id
}

// Why a turn was stopped, as its result says. The chat that sent the command was told.
const (
	byStop = "stopped by /stop"
	byNew  = "stopped by /new now"
)

// isToldAlready reports whether the chat knows the outcome of a message because it has stopped it.
func (a Answer) isToldAlready() bool {
	return a.Class == "interrupted" && (a.Error == byStop || a.Error == byNew)
}

// stops reports whether a text stops the turn that runs, and what else it asks for: a command that is obeyed in its
// place among the messages, or nothing.
func (b *Bridge) stops(text string) (why string, inPlace, is bool) {
	name, rest, isCommand := b.command(text)
	switch {
	case !isCommand:
		return "", false, false
	case name == "/stop":
		return byStop, false, true
	case isNow(name, rest):
		return byNew, true, true
	}
	return "", false, false
}

func isNow(name, rest string) bool {
	return (name == "/new" || name == "/restart") && strings.EqualFold(rest, "now")
}

// pass passes a message to the workers of its chat.
func (b *Bridge) pass(ctx context.Context, c *chat, m incoming) {
	name, _, isCommand := b.commandOf(&m)
	if isCommand && answersAgents(name) {
		b.answerAgent(ctx, c, m)
		return
	}
	_, inPlace, stops := b.stops(m.Text)
	if isCommand && (stops || name == "/status") {
		urgent := m
		c.change(func() { urgent.before, c.open = c.passed, c.open+1 })
		if inPlace { // until it was obeyed in its place, it is not acknowledged
			stopped := make(chan struct{})
			m.stopped, urgent.done = stopped, func() { close(stopped) }
		}
		c.urgent.put(urgent)
		if !inPlace {
			return
		}
	}
	c.enqueue(m)
}

// enqueue passes a message to takeIn.
func (c *chat) enqueue(m incoming) {
	c.change(func() {
		if c.open > 0 {
			c.behind[m.ID] = c.passed
		}
		c.passed++
	})
	c.updates.put(m)
}

// awaitStop waits until the turn was stopped, if a command begins with that.
func (m *incoming) awaitStop(ctx context.Context) {
	if m.stopped == nil {
		return
	}
	select {
	case <-m.stopped:
	case <-ctx.Done():
	}
}

// isBehind reports whether a message came after an urgent one.
func (c *chat) isBehind(m *incoming, id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, since := c.behind[id]
	return since && before >= m.before
}

// answered records that an urgent message was answered.
func (c *chat) answered() {
	c.change(func() {
		if c.open--; c.open == 0 {
			clear(c.behind)
		}
	})
}

// took records which updates takeIn has processed: all that it got, except those that wait for further parts.
func (c *chat) took() {
	taken := c.got
	for _, g := range c.gathering {
		taken -= len(g.parts)
	}
	c.change(func() { c.taken = taken })
}

// answerUrgent answers urgent messages until the context ends.
func (b *Bridge) answerUrgent(ctx context.Context, c *chat) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.urgent.news:
		}
		for _, m := range c.urgent.take() {
			if ctx.Err() != nil {
				return
			}
			c.change(func() { c.blocked = false })
			if b.obeyAtOnce(ctx, c, m) == nil {
				m.done()
			}
			c.answered()
		}
	}
}

func (b *Bridge) obeyAtOnce(ctx context.Context, c *chat, m incoming) error {
	why, _, stops := b.stops(m.Text)
	if !stops {
		name, rest, _ := b.command(m.Text)
		return b.obey(ctx, c, m, name, rest)
	}
	said, err := b.stop(ctx, c, m, why)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		b.log("stop the turn of %s: %v", c.place, err)
		said = "It could not be stopped: " + b.words(err) + "."
	}
	if said == "" {
		return nil
	}
	if name, rest, _ := b.command(m.Text); name == "/stop" && rest != "" {
		said += notPassed
	}
	return b.reply(ctx, c, m.ID+":stop:reply", reply{text: said}) // a command that stops first has another reply in its place
}

// acceptWithin is how long a stop waits until the messages before it are in the queue.
const acceptWithin = 5 * time.Second

// stop stops the turn of the chat, and returns the reply.
func (b *Bridge) stop(ctx context.Context, c *chat, m incoming, why string) (string, error) {
	waiting, end := context.WithTimeout(ctx, acceptWithin)
	defer end()
	c.await(waiting, func() bool { return c.taken >= m.before || c.resetting })
	stopped, err := b.Chats.Interrupt(ctx, c.key, m.ID+":stop", why, func(id string) bool { return c.isBehind(&m, id) })
	switch {
	case fail.KindOf(err) == fail.Held:
		return "Nothing is running: " + b.words(err) + ".", nil
	case err != nil:
		return "", err
	case stopped.Told, !stopped.Is && why == byNew: // the new conversation is told
		return "", nil
	case !stopped.Is && stopped.Ended:
		return "It had just ended.", nil
	case !stopped.Is:
		return "Nothing is running.", nil
	}
	reply := strings.TrimSpace("Stopped. " + stopped.After)
	if stopped.Acted != "" {
		reply += " Claude had used " + stopped.Acted + "."
	}
	if why == byStop {
		reply += " The conversation goes on."
	}
	return reply, nil
}
