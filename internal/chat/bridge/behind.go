package bridge

import "context"

// A command that may take long is noted, so that the system need not keep it; and so is what is written behind it, up to
// the first message that cannot be noted. A system may give only a number of messages at a time: one chat must not make
// the bridge deaf for the others.

// mostNoted is the length of a message that is noted, in bytes. In a note it may be six times as long.
const mostNoted = 9 << 10

// note records a message that waits, and ends it for the system. over reports whether an earlier bridge has obeyed it. The
// error is the context's.
func (b *Bridge) note(ctx context.Context, m *incoming) (over bool, err error) {
	err = b.retry(ctx, "note a message that waits", func() (err error) {
		over, err = b.Deliveries.NoteWaiting(ctx, m.Incoming)
		return err
	})
	if err == nil {
		m.done()
		m.noted, m.done = true, func() {}
	}
	return over, err
}

// finish ends a message that needs nothing more.
func (b *Bridge) finish(ctx context.Context, m *incoming) {
	if m.noted {
		_ = b.retry(ctx, "note that a message is over", func() error { return b.Deliveries.NoteDelivered(ctx, m.Key, m.ID, "") })
	}
	m.done()
}

// noteBehind notes what comes for a chat until done is closed.
func (b *Bridge) noteBehind(ctx context.Context, c *chat, done <-chan struct{}) {
	for {
		b.noteGathered(ctx, c)
		select {
		case <-done:
			return
		case <-c.updates.news:
			b.gatherAll(c)
		}
	}
}

// noteGathered notes messages that were gathered, from the first one on: the next bridge takes what is noted before what
// the system gives it, so it must not be behind that.
func (b *Bridge) noteGathered(ctx context.Context, c *chat) {
	for i := 0; i < len(c.gathering); {
		g := &c.gathering[i]
		m := &g.parts[0]
		if !m.noted {
			if len(g.parts) > 1 || !g.until.IsZero() || !m.canWait() {
				return
			}
			if parts, err := b.accepted(ctx, c, m.Incoming); err != nil || len(parts) > 0 {
				return
			}
			if _, _, isCommand := b.commandOf(m); !isCommand {
				if handle, is := b.forAgent(ctx, c, m); is { // the note does not say what the message answers
					m.Text = "/send " + handle + " " + m.Text
				}
			}
			over, err := b.note(ctx, m)
			if err != nil {
				return
			}
			if over {
				c.gathering = append(c.gathering[:i], c.gathering[i+1:]...)
				continue
			}
		}
		i++
	}
}

// canWait reports whether a note has all that a message consists of.
func (m *incoming) canWait() bool {
	return m.isFor && !m.isEdit && !m.update.isCaption() && m.update.Forwarded == nil && m.update.Album == "" && m.stopped == nil &&
		len(m.Text)+len(m.Context) <= mostNoted
}
