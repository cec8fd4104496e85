package headless

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
	Most     int           // processes at most
	Memory   uint64        // resident bytes of all processes together
	Idle     time.Duration // an unused process is ended after this time
	Now      func() time.Time
	mu       sync.Mutex
	sessions map[conversations.Key]*Session
	leaving  map[conversations.Key]chan struct{} // of processes that are ending; closed once the conversation is free
	closed   bool
}

// Take returns the key's claude if it has the session open and its manner serves. Otherwise it ends the claude, if any,
// and returns nil.
func (p *Pool) Take(ctx context.Context, key conversations.Key, id agent.SessionID, wanted Manner) *Session {
	p.mu.Lock()
	s, leaving := p.sessions[key], p.leaving[key]
	delete(p.sessions, key)
	p.mu.Unlock()
	if leaving != nil {
		<-leaving
	}
	if s == nil {
		return nil
	}
	if s.ID == id && s.Manner.serves(wanted) && s.Alive() {
		return s
	}
	s.End(ctx)
	return nil
}

// Put keeps a claude for the next turn, and ends surplus processes.
func (p *Pool) Put(ctx context.Context, key conversations.Key, s *Session) {
	s.used = p.Now()
	p.mu.Lock()
	closed := p.closed
	if !closed {
		if p.sessions == nil {
			p.sessions = map[conversations.Key]*Session{}
		}
		p.sessions[key] = s
	}
	p.mu.Unlock()
	if closed {
		s.End(ctx)
		return
	}
	p.Trim(ctx)
}

// Trim ends processes that were unused for too long. If the rest are too many or too large, it ends the least
// recently used ones.
func (p *Pool) Trim(ctx context.Context) {
	for {
		key, s := p.surplus()
		if s == nil {
			return
		}
		p.end(ctx, key, s)
	}
}

// Working is how long a process stays at least if it has background tasks.
const Working = 6 * time.Hour

// surplus returns the process to end next; nil if all may stay. One that has something to do beside its turns is the
// last to be ended for its number or memory.
func (p *Pool) surplus() (conversations.Key, *Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var next conversations.Key
	var nextBusy bool
	var memory uint64
	for key, s := range p.sessions {
		if !s.Alive() {
			return key, s
		}
		beside, limit := s.Beside(), p.Idle
		if beside.Busy() {
			limit = max(limit, Working)
		}
		if p.Now().Sub(s.used) >= limit {
			return key, s
		}
		memory += s.machine.UsageOf(s.PID()).RSS
		if next == "" || nextBusy && !beside.Busy() || nextBusy == beside.Busy() && s.used.Before(p.sessions[next].used) {
			next, nextBusy = key, beside.Busy()
		}
	}
	if len(p.sessions) <= p.Most && memory <= p.Memory {
		return "", nil
	}
	return next, p.sessions[next]
}

// end ends a process, unless a turn has taken it by then.
func (p *Pool) end(ctx context.Context, key conversations.Key, s *Session) {
	p.mu.Lock()
	if p.sessions[key] != s {
		p.mu.Unlock()
		return
	}
	delete(p.sessions, key)
	if p.leaving == nil {
		p.leaving = map[conversations.Key]chan struct{}{}
	}
	gone := make(chan struct{})
	p.leaving[key] = gone
	p.mu.Unlock()
	s.End(ctx)
	p.mu.Lock()
	delete(p.leaving, key)
	p.mu.Unlock()
	close(gone)
}

// Busy reports whether the process of a conversation has something to do beside its turns, and waits for the next one.
func (p *Pool) Busy(key conversations.Key) bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	s := p.sessions[key]
	p.mu.Unlock()
	if s == nil || !s.Alive() {
		return false
	}
	beside := s.Beside()
	return beside.Busy()
}

// Drop ends the process of a conversation, if any. A nil pool holds no processes.
func (p *Pool) Drop(ctx context.Context, key conversations.Key) {
	if p == nil {
		return
	}
	p.mu.Lock()
	s := p.sessions[key]
	p.mu.Unlock()
	if s != nil {
		p.end(ctx, key, s)
	}
}

// Len returns the number of kept processes.
func (p *Pool) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sessions)
}

// Close ends all processes. After that the pool keeps none.
func (p *Pool) Close(ctx context.Context) {
	p.mu.Lock()
	all := p.sessions
	p.sessions, p.closed = nil, true
	p.mu.Unlock()
	var ended sync.WaitGroup
	for _, s := range all {
		ended.Go(func() { s.End(ctx) })
	}
	ended.Wait()
}
