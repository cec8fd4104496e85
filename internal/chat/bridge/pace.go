package bridge

import "time"

// pace is how fast the bot may write to a chat.
type pace struct {
	grow  time.Time // when a message may grow again
	write time.Time // when the system takes a message again, as it said
}

// growPause returns how long to wait before a message of a chat may grow. That time is the caller's: the next caller, such
// as another topic of the group, waits for a later one.
func (b *Bridge) growPause(at Place) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, now := b.paces[at.Chat], time.Now()
	mine := now
	if p.grow.After(now) {
		mine = p.grow
	}
	p.grow = mine.Add(b.growsEvery(at))
	b.paces[at.Chat] = p
	return mine.Sub(now)
}

// growsEvery returns how often a message of a chat may grow.
func (b *Bridge) growsEvery(at Place) time.Duration {
	if b.isGroup(at.Chat) {
		return b.traits.GrowInGroups
	}
	return b.traits.Grow
}

// writePause returns how long the system has asked to wait with what is written to a chat.
func (b *Bridge) writePause(at Place) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(0, time.Until(b.paces[at.Chat].write))
}

// pause notes that the system asked for a pause.
func (b *Bridge) pause(at Place, asked time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, until := b.paces[at.Chat], time.Now().Add(asked)
	if p.write = until; until.After(p.grow) {
		p.grow = until
	}
	b.paces[at.Chat] = p
}
