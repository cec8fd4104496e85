package conversation

import (
	"context"
	"sync"

	"nbs-worker/internal/store/conversations"
)

// rights are the rights to run turns, one per key, shared by the callers of one engine. One caller of a key at a
// time waits in the kernel for other processes. The others wait here, where each can give up at once, and stops
// waiting when somebody else has finished its turn.
type rights struct {
	mu    sync.Mutex
	of    map[conversations.Key]*right
	waits map[*wait]bool
}

// wait is the wait of a caller for the right to run turns; it ends when the turn with the id is over.
type wait struct {
	id   string
	stop func()
}

type right struct {
	free chan struct{} // holds one value while nobody has the right
	want int           // callers that have it or wait for it
}

// awaitTurn takes the right to run turns of a conversation. unlock is nil without an error when the turn with the id
// ended meanwhile: whoever finished it may go on with later turns for long. Errors: TimedOut when the conversation stops
// moving.
func (e *Engine) awaitTurn(ctx context.Context, c *conversations.Conversation, id string) (unlock func(), err error) {
	moving, still := e.Moving(ctx, c.Key(), id)
	defer still()
	waiting, stop := context.WithCancel(moving)
	defer stop()
	if id != "" {
		defer e.rights.onOver(id, stop)()
		if _, over, err := c.Result(id); over || err != nil {
			return nil, err
		}
	}
	giveBack, err := e.rights.take(waiting, c.Key())
	if err == nil {
		var end func()
		if end, err = c.AwaitTurn(waiting); err == nil {
			return func() { end(); giveBack() }, nil
		}
		giveBack()
	}
	switch {
	case moving.Err() != nil:
		return nil, context.Cause(moving)
	case waiting.Err() != nil:
		return nil, nil // it is over
	}
	return nil, err
}

// take waits for the right of a key. Errors: that of the context.
func (r *rights) take(ctx context.Context, key conversations.Key) (giveBack func(), err error) {
	r.mu.Lock()
	one := r.of[key]
	if one == nil {
		if r.of == nil {
			r.of = map[conversations.Key]*right{}
		}
		one = &right{free: make(chan struct{}, 1)}
		one.free <- struct{}{}
		r.of[key] = one
	}
	one.want++
	r.mu.Unlock()
	leave := func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if one.want--; one.want == 0 {
			delete(r.of, key)
		}
	}
	select {
	case <-one.free:
		return func() { one.free <- struct{}{}; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

// onOver registers stop to be called when the turn with the id is over; forget removes it.
func (r *rights) onOver(id string, stop func()) (forget func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waits == nil {
		r.waits = map[*wait]bool{}
	}
	w := &wait{id, stop}
	r.waits[w] = true
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.waits, w)
	}
}

// over stops the waits for a turn that is over.
func (r *rights) over(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for w := range r.waits {
		if w.id == id {
			w.stop()
		}
	}
}
