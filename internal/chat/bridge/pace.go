package bridge

import "time"

// pace is how fast the bot may write to a chat.
type pace struct {
	grow  time.Time // when a message may grow again
	write time.Time // when the system takes a message again, as it said
}

// growPause returns how long to wait before a message of a chat may grow.
func (b *Bridge) growPause(at Place) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(0, time.Until(b.paces[at.Chat].grow))
}

// writePause returns how long the system has asked to wait with what is written to a chat.
func (b *Bridge) writePause(at Place) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(0, time.Until(b.paces[at.Chat].write))
}

// grew notes that a message of a chat has grown, or that the system asked for a pause.
func (b *Bridge) grew(at Place, asked time.Duration) {
	wait := max(b.traits.Grow, asked)
	if b.isGroup(at.Chat) {
		wait = max(b.traits.GrowInGroups, asked)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.paces[at.Chat]
	p.grow = time.Now().Add(wait)
	if asked > 0 {
		p.write = time.Now().Add(asked)
	}
	b.paces[at.Chat] = p
}
