package conversation

import (
	"context"
	"sync"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/conversations"
)

// Pool keeps the claudes of the most recently used conversations, so that their next turn needs no start.
// The lease on a conversation is held for as long as its claude lives. A Pool is safe for concurrent use.
type Pool struct {
	Most    int           // processes at most
	Memory  uint64        // resident bytes of all processes together
	Idle    time.Duration // an unused process is ended after this time
	Now     func() time.Time
	mu      sync.Mutex
	workers map[conversations.Key]*worker
	leaving map[conversations.Key]chan struct{} // of processes that are ending; closed once the conversation is free
	closed  bool
}

// take returns the key's process if it has the session open and its manner serves. Otherwise it ends the process, if
// any, and returns nil.
func (p *Pool) take(ctx context.Context, key conversations.Key, id agent.SessionID, made manner) *worker {
	p.mu.Lock()
	w, leaving := p.workers[key], p.leaving[key]
	delete(p.workers, key)
	p.mu.Unlock()
	if leaving != nil {
		<-leaving
	}
	if w == nil {
		return nil
	}
	if w.session == id && w.made.serves(made) && w.alive() {
		w.mode = conversations.Resumed
		return w
	}
	w.end(ctx)
	return nil
}

// put keeps a process for the next turn, and ends surplus processes.
func (p *Pool) put(ctx context.Context, key conversations.Key, w *worker) {
	w.used = p.Now()
	p.mu.Lock()
	closed := p.closed
	if !closed {
		if p.workers == nil {
			p.workers = map[conversations.Key]*worker{}
		}
		p.workers[key] = w
	}
	p.mu.Unlock()
	if closed {
		w.end(ctx)
		return
	}
	p.Trim(ctx)
}

// Trim ends processes that were unused for too long. If the rest are too many or too large, it ends the least
// recently used ones.
func (p *Pool) Trim(ctx context.Context) {
	for {
		key, w := p.surplus()
		if w == nil {
			return
		}
		p.end(ctx, key, w)
	}
}

// surplus returns the process to end next; nil if all may stay.
func (p *Pool) surplus() (conversations.Key, *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var oldest conversations.Key
	var memory uint64
	for key, w := range p.workers {
		if !w.alive() {
			return key, w
		}
		memory += w.machine.UsageOf(w.process.PID()).RSS
		if oldest == "" || w.used.Before(p.workers[oldest].used) {
			oldest = key
		}
	}
	w := p.workers[oldest]
	if w == nil || len(p.workers) <= p.Most && memory <= p.Memory && p.Now().Sub(w.used) < p.Idle {
		return "", nil
	}
	return oldest, w
}

// end ends a process, unless a turn has taken it by then.
func (p *Pool) end(ctx context.Context, key conversations.Key, w *worker) {
	p.mu.Lock()
	if p.workers[key] != w {
		p.mu.Unlock()
		return
	}
	delete(p.workers, key)
	if p.leaving == nil {
		p.leaving = map[conversations.Key]chan struct{}{}
	}
	gone := make(chan struct{})
	p.leaving[key] = gone
	p.mu.Unlock()
	w.end(ctx)
	p.mu.Lock()
	delete(p.leaving, key)
	p.mu.Unlock()
	close(gone)
}

// drop ends the process of a conversation, if any. A nil pool holds no processes.
func (p *Pool) drop(ctx context.Context, key conversations.Key) {
	if p == nil {
		return
	}
	p.mu.Lock()
	w := p.workers[key]
	p.mu.Unlock()
	if w != nil {
		p.end(ctx, key, w)
	}
}

// Len returns the number of kept processes.
func (p *Pool) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.workers)
}

// Close ends all processes. After that the pool keeps none.
func (p *Pool) Close(ctx context.Context) {
	p.mu.Lock()
	all := p.workers
	p.workers, p.closed = nil, true
	p.mu.Unlock()
	var ended sync.WaitGroup
	for _, w := range all {
		ended.Go(func() { w.end(ctx) })
	}
	ended.Wait()
}

func (w *worker) alive() bool {
	select {
	case <-w.process.Ended():
		return false
	default:
		return true
	}
}
