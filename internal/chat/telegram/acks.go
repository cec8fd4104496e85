package telegram

import (
	"context"
	"sync"
)

// atOnce is how many updates Telegram gives at most, from the first that is not acknowledged on, and so how many are
// worked on at most.
const atOnce = 100

// acks are the updates that were read and that Telegram still keeps.
type acks struct {
	mu     sync.Mutex
	seen   map[int64]bool // by number: whether what came of it is durable
	change chan struct{}
}

func newAcks() *acks { return &acks{seen: map[int64]bool{}, change: make(chan struct{}, 1)} }

// begin takes an update to work on; false when it is being worked on, or was.
func (a *acks) begin(number int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.seen[number]; known {
		return false
	}
	a.seen[number] = false
	return true
}

// done notes that what came of an update is durable.
func (a *acks) done(number int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen[number] = true
	select {
	case a.change <- struct{}{}:
	default:
	}
}

// offset is the number of the first update that is not durable: asking for it acknowledges all before it. It is 0 when
// there is none to acknowledge: an old offset is not repeated, since after a quiet week Telegram numbers from anywhere.
func (a *acks) offset() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	var first, last int64
	for number, durable := range a.seen {
		last = max(last, number+1)
		if !durable && (first == 0 || number < first) {
			first = number
		}
	}
	if first > 0 {
		return first
	}
	return last
}

// confirmed forgets the updates that Telegram has forgotten, since it was asked with the offset.
func (a *acks) confirmed(offset int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for number := range a.seen {
		if number < offset {
			delete(a.seen, number)
		}
	}
}

// progress waits until something becomes durable, or until it is time to look for messages of other chats.
func (a *acks) progress(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, repoll)
	defer cancel()
	select {
	case <-a.change:
	case <-ctx.Done():
	}
}
