package conversation

import (
	"context"

	"nbs-worker/internal/store/conversations"
)

// wait is a caller's wait for the turn lock. It ends when the turn with the id is over: the caller that finished that
// turn may run later turns for a long time.
type wait struct {
	id   string
	stop func()
}

// awaitTurn takes the turn lock of a conversation. The wait for other callers is in the kernel. unlock is nil without
// an error when the turn with the id has ended by then. Errors: TimedOut when the conversation is stuck.
func (e *Engine) awaitTurn(ctx context.Context, c *conversations.Conversation, id string) (unlock func(), err error) {
	moving, still := e.Moving(ctx, c.Key(), id)
	defer still()
	waiting, stop := context.WithCancel(moving)
	defer stop()
	if id != "" {
		w := &wait{id, stop}
		e.waits.Store(w, nil)
		defer e.waits.Delete(w)
		if _, over, err := c.Result(id); over || err != nil {
			return nil, err
		}
	}
	unlock, err = c.AwaitTurn(waiting)
	switch {
	case err == nil:
		return unlock, nil
	case moving.Err() != nil:
		return nil, context.Cause(moving)
	case waiting.Err() != nil:
		return nil, nil // it is over
	}
	return nil, err
}

// stopWaits ends the waits for a finished turn.
func (e *Engine) stopWaits(id string) {
	e.waits.Range(func(key, _ any) bool {
		if w := key.(*wait); w.id == id {
			w.stop()
		}
		return true
	})
}
