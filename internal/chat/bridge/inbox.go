package bridge

import "sync"

// inbox is what waits for a worker of a chat. It has room for all that comes: one chat must not make the bridge deaf for
// the others, nor for its own /stop.
type inbox struct {
	news chan struct{} // something was put in; one goroutine waits for it

	mu      sync.Mutex
	waiting []incoming
}

func newInbox() *inbox { return &inbox{news: make(chan struct{}, 1)} }

func (i *inbox) put(m incoming) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.waiting = append(i.waiting, m)
	select {
	case i.news <- struct{}{}:
	default:
	}
}

// take returns all that waits, in order.
func (i *inbox) take() (all []incoming) {
	i.mu.Lock()
	defer i.mu.Unlock()
	all, i.waiting = i.waiting, nil
	return all
}
