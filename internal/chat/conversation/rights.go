package conversation

import (
	"context"

	"nbs-worker/internal/store/conversations"
)

// wait is the wait of a caller for the right to run turns. It ends when the turn with the id is over, since the caller
// that finished it may go on with later turns for a long time.
type wait struct {
	id   string
	stop func()
}

// awaitTurn takes the right to run turns of a conversation. It waits in the kernel for other callers and processes. unlock
// is nil without an error when the turn with the id ended meanwhile. Errors: TimedOut when the conversation stops moving.
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

// isOver ends the waits for a turn that is over.
func (e *Engine) isOver(id string) {
	e.waits.Range(func(key, _ any) bool {
		if w := key.(*wait); w.id == id {
			w.stop()
		}
		return true
	})
}
