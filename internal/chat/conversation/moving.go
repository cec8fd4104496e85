package conversation

import (
	"context"
	"slices"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/proc"
	"nbs-worker/internal/store/conversations"
)

// settleTime is how long the runner of a turn may take to end it after the turn's time limit, unless it is suspended.
const settleTime = 30 * time.Second

// Moving returns a context that ends when a conversation has stopped moving: no turn of it was begun, held up or finished
// for the time limit of the turn with the id, as when the process that runs its turns is suspended. "": of the first open
// turn. The context's cause says which turn is in the way. stop ends the watch.
func (e *Engine) Moving(ctx context.Context, key conversations.Key, id string) (moving context.Context, stop func()) {
	moving, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if why := e.awaitHalt(moving, e.Store.Conversations().Of(key), id); why != nil {
			cancel(why)
		}
	}()
	return moving, func() { cancel(nil); <-ended }
}

// awaitHalt returns why a conversation has stopped moving; nil when the context ends, or there is nothing to wait for.
func (e *Engine) awaitHalt(ctx context.Context, c *conversations.Conversation, id string) error {
	since, first := e.Now(), 0
	for {
		state, err := c.State()
		if err != nil {
			return nil //nolint:nilerr // who waits reads it too, and reports that
		}
		var head conversations.Turn
		if len(state.Open) > 0 {
			head = state.Open[0]
		}
		if first != 0 && head.Seq != first {
			since = e.Now()
		}
		first = head.Seq
		limit := limitOf(c, &state, id)
		if limit == 0 {
			return nil
		}
		wait := latest(since, &head).Add(limit).Sub(e.Now())
		if isRun(&head) {
			wait += settleTime
		}
		if wait <= 0 {
			return errHalted(&head, limit)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil
		}
	}
}

// limitOf is the time limit of the turn with the id, of the first open one for ""; 0: it has none.
func limitOf(c *conversations.Conversation, state *conversations.State, id string) time.Duration {
	at := slices.IndexFunc(state.Open, func(t conversations.Turn) bool { return id == "" || t.ID == id })
	if at < 0 {
		return TurnTimeout
	}
	ask, err := c.Request(state.Open[at].Seq)
	if err != nil {
		return TurnTimeout
	}
	return ask.Timeout
}

// latest is when a turn was last begun or held up, or when it is tried again; at least since.
func latest(since time.Time, t *conversations.Turn) time.Time {
	times := []time.Time{since}
	if n := len(t.Starts); n > 0 {
		times = append(times, t.Starts[n-1].At)
	}
	if t.Held != nil {
		times = append(times, t.Held.At, t.Held.Until)
	}
	return slices.MaxFunc(times, time.Time.Compare)
}

// isRun reports whether a process runs the turn that is not suspended.
func isRun(t *conversations.Turn) bool {
	if len(t.Starts) == 0 {
		return false
	}
	runner := t.Starts[len(t.Starts)-1].Runner
	return proc.IsAlive(runner) && !proc.Halted(runner.PID)
}

// errHalted is the error that a conversation has not moved for some time, because of its first open turn.
func errHalted(head *conversations.Turn, limit time.Duration) error {
	switch {
	case head.Seq == 0:
		return fail.Errorf(fail.TimedOut, "another process has held the conversation for %s", limit)
	case len(head.Starts) == 0:
		return fail.Errorf(fail.TimedOut, "turn %d of the conversation was not begun within %s, and another process has the right to", head.Seq, limit)
	}
	runner := head.Starts[len(head.Starts)-1].Runner
	late := fail.Errorf(fail.TimedOut, "turn %d of the conversation has not ended within %s; pid %d runs it", head.Seq, limit, runner.PID)
	if proc.IsAlive(runner) && proc.Halted(runner.PID) {
		return fail.Errorf(fail.TimedOut, "%w, and is suspended", late).Hint("to let that process go on: kill -CONT %d", runner.PID)
	}
	return late
}
