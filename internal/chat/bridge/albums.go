package bridge

import (
	"context"
	"slices"
	"strings"
	"time"
)

// settle is how long the next part of a message is waited for: the pictures of an album, and the parts of a text that
// was too long for one message, come as messages of their own.
const settle = time.Second

// gathered is a message of a chat with the parts that have come.
type gathered struct {
	parts []incoming
	until time.Time // for this long another part is waited for; zero: it is whole
}

// next returns the next message of a chat, with all its parts. The order of messages is that of their first parts.
// It returns false when the context ends.
func (b *Bridge) next(ctx context.Context, c *chat) (incoming, bool) {
	for {
		b.gatherAll(c)
		c.took()
		var settled <-chan time.Time
		if len(c.gathering) > 0 {
			first := c.gathering[0]
			wait := time.Until(first.until)
			if wait <= 0 {
				c.gathering = c.gathering[1:]
				if m, is := b.joined(ctx, c, first.parts); is || ctx.Err() != nil {
					return m, ctx.Err() == nil
				}
				continue
			}
			settled = time.After(wait)
		}
		select {
		case <-ctx.Done():
			return incoming{}, false
		case <-c.updates.news:
		case <-settled:
		}
	}
}

// gatherAll gathers what has come while the chat was busy: a part that is here already is not too late.
func (b *Bridge) gatherAll(c *chat) {
	for _, m := range c.updates.take() {
		b.gather(c, m)
	}
}

// gather puts an update into the message that it belongs to, or makes it a message.
func (b *Bridge) gather(c *chat, m incoming) {
	c.got++
	g := gathered{}
	for i := range c.gathering {
		at := &c.gathering[i]
		if at.has(&m) {
			at.parts = append(at.parts, m)
			at.until = b.openUntil(&m)
			return
		}
		if at.parts[0].update.From.ID == m.update.From.ID && at.parts[0].update.Album == "" {
			at.until = time.Time{} // the user has written something else
		}
	}
	g.parts, g.until = []incoming{m}, b.openUntil(&m)
	c.gathering = append(c.gathering, g)
}

// openUntil returns for how long a part of a message lets one wait for the next part; zero: it is the last one.
func (b *Bridge) openUntil(m *incoming) time.Time {
	if m.isEdit || m.update.Album == "" && !m.update.Full {
		return time.Time{}
	}
	return time.Now().Add(b.Settle)
}

// has reports whether an update is a part of the message.
func (g *gathered) has(m *incoming) bool {
	first := g.parts[0].update
	switch {
	case m.isEdit || g.parts[0].isEdit || first.From.ID != m.update.From.ID:
		return false
	case first.Album != "" || m.update.Album != "":
		return first.Album == m.update.Album
	}
	return !g.until.IsZero() && m.update.isPaste() && m.update.forwardedFrom() == first.forwardedFrom()
}

// isPaste reports whether a message may continue the one before it.
func (u *Update) isPaste() bool {
	return u.Text != "" && !u.isCaption() && u.Answers == nil && u.Elsewhere == nil && !strings.HasPrefix(u.Text, "/")
}

// forwardedFrom returns the name of who wrote a message; "" if it was not forwarded.
func (u *Update) forwardedFrom() string {
	if u.Forwarded == nil {
		return ""
	}
	return u.Forwarded.name()
}

// mayBelong reports whether a message that is not for the bot may be a part of one that is, or an edit of one. Only the
// goroutine that listens calls it.
func (b *Bridge) mayBelong(u *Update) bool {
	return u.IsEdit || u.Album != "" || u.isPaste() && time.Now().Before(b.pasting[writer{b.place(u), u.From.ID}])
}

// notePaste notes that a user may be about to write the next part of a text.
func (b *Bridge) notePaste(u *Update) {
	by := writer{b.place(u), u.From.ID}
	delete(b.pasting, by)
	if u.Full {
		b.pasting[by] = time.Now().Add(b.Settle)
	}
}

// writer is a user in a place.
type writer struct {
	at   Place
	user string
}

// joined makes one message of parts. Which updates it has is recorded before it is accepted: after a crash, parts that
// come again are not taken for another message. is is false when there is nothing to process. Parts of
// another message go back to the front.
func (b *Bridge) joined(ctx context.Context, c *chat, parts []incoming) (m incoming, is bool) {
	if first := parts[0].update; parts[0].isEdit || first.Album == "" && !first.Full {
		return parts[0], parts[0].isEdit || parts[0].isFor || parts[0].drop() // an edit may leave the bot's name out
	}
	m = merged(parts)
	m.Context = b.contextOf(m.updates...)
	accepted, err := b.accepted(ctx, c, m.Incoming)
	if err != nil {
		return m, false
	}
	if len(accepted) > 0 {
		rest := slices.DeleteFunc(parts, func(p incoming) bool {
			is := slices.Contains(accepted, p.ID)
			if is {
				p.done()
			}
			return is
		})
		if len(rest) > 0 {
			c.gathering = slices.Insert(c.gathering, 0, gathered{parts: rest})
		}
		return m, false
	}
	if !m.isFor {
		return m, m.drop()
	}
	if len(parts) > 1 && b.retry(ctx, "note the parts of a message", func() error { return b.Deliveries.NoteParts(ctx, c.key, m.Parts) }) != nil {
		return m, false
	}
	return m, true
}

// drop ends a message that is not processed.
func (m *incoming) drop() bool {
	m.done()
	return false
}

// merged returns the parts of a message as one.
func merged(parts []incoming) incoming {
	m := parts[0]
	m.updates, m.Messages, m.Parts = nil, nil, nil
	var text strings.Builder
	for i, p := range parts {
		if separator := "\n"; text.Len() > 0 && p.Text != "" {
			if parts[i-1].update.Cut {
				separator = ""
			}
			text.WriteString(separator)
		}
		text.WriteString(p.Text)
		m.isFor = m.isFor || p.isFor
		m.updates, m.Messages, m.Parts = append(m.updates, p.update), append(m.Messages, p.update.Number), append(m.Parts, p.ID)
	}
	m.Text = text.String()
	m.done = func() {
		for _, p := range parts {
			p.done()
		}
	}
	return m
}
