package telegram

import "time"

// pace is how fast the bot may write to a chat.
type pace struct {
	grow  time.Time // when a message may grow again
	write time.Time // when Telegram takes a message again, as it said
}

// growPause returns how long to wait before a message of a chat may grow.
func (b *Bridge) growPause(at Place) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(0, time.Until(b.paces[at.chat].grow))
}

// writePause returns how long Telegram has asked to wait with what is written to a chat.
func (b *Bridge) writePause(at Place) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(0, time.Until(b.paces[at.chat].write))
}

// grew notes that a message of a chat has grown, or that Telegram asked for a pause. A bot may write 20 messages a minute
// to a group, and edits count.
func (b *Bridge) grew(at Place, asked time.Duration) {
	wait := max(b.Grow, asked)
	if at.isGroup() {
		wait = max(3*b.Grow, asked)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.paces[at.chat]
	p.grow = time.Now().Add(wait)
	if asked > 0 {
		p.write = time.Now().Add(asked)
	}
	b.paces[at.chat] = p
}

// isGroup reports whether the place is in a group: those have negative numbers.
func (p Place) isGroup() bool { return p.chat < 0 }
