package telegram

import (
	"context"
	"sync"
)

// atOnce is how many updates Telegram returns at most, from the first unacknowledged one on. So at most that many are
// processed at a time.
const atOnce = 100

// acks are the updates that were read and that Telegram still keeps.
type acks struct {
	mu     sync.Mutex
	seen   map[int64]bool // by number: whether its result is durable
	change chan struct{}
}

func newAcks() *acks { return &acks{seen: map[int64]bool{}, change: make(chan struct{}, 1)} }

// begin takes an update to process; false if it is being processed, or was.
func (a *acks) begin(number int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.seen[number]; known {
		return false
	}
	a.seen[number] = false
	return true
}

// done records that the result of an update is durable.
func (a *acks) done(number int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen[number] = true
	select {
	case a.change <- struct{}{}:
	default:
	}
}

// offset returns the number of the first update that is not durable: a request with it acknowledges earlier ones.
// It is 0 if there are none. An old offset is not repeated: after a quiet week Telegram starts its numbers anywhere.
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

// confirmed drops the updates that Telegram has dropped because it was asked with the offset.
func (a *acks) confirmed(offset int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for number := range a.seen {
		if number < offset {
			delete(a.seen, number)
		}
	}
}

// progress waits until a result becomes durable, or until it is time to look for messages of other chats.
func (a *acks) progress(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, repoll)
	defer cancel()
	select {
	case <-a.change:
	case <-ctx.Done():
	}
}
