package conversation

import (
	"cmp"
	"context"
	"slices"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
)

// settleTime is how long the runner of a turn may take to end it after the caller's time limit, unless it is suspended.
const settleTime = 30 * time.Second

// Moving returns a context that ends when the conversation is stuck: no turn was begun, held or finished within the
// limit of the turn with the id ("": the first open turn). A suspended runner causes that, for example. A runner that
// lives and is not suspended enforces its turn's limit itself, however long its turn takes: then only the time that
// the caller gave counts. The context's cause names the blocking turn. stop ends the watch.
func (e *Engine) Moving(ctx context.Context, key conversations.Key, id string) (moving context.Context, stop func()) {
	moving, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if why := e.awaitHalt(moving, e.Project.Store.Conversations().Of(key), id); why != nil {
			cancel(why)
		}
	}()
	return moving, func() { cancel(nil); <-ended }
}

// awaitHalt waits until the conversation is stuck and returns why; nil if the context ends or nothing is open.
func (e *Engine) awaitHalt(ctx context.Context, c *conversations.Conversation, id string) error {
	begun, first := e.Project.Now(), 0
	since := begun
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
			begun = e.Project.Now()
			since = begun
		}
		first = head.Seq
		whole, limit := limitsOf(c, &state, id)
		wait := latest(since, &head).Add(limit).Sub(e.Project.Now())
		if e.isRun(&head) {
			limit = whole
			wait = latest(begun, &head).Add(whole + settleTime).Sub(e.Project.Now())
			since = e.Project.Now() // from which a runner that is suspended later stands still
		} else if head.Seq != 0 && len(head.Starts) == 0 { // the claude of the turn before may have background tasks
			wait += settleTime
		}
		if limit > 0 && wait <= 0 {
			return e.errHalted(&state, &head, limit)
		}
		if limit == 0 {
			wait = lookAgain
		}
		select {
		case <-time.After(min(wait, lookAgain)):
		case <-ctx.Done():
			return nil
		}
	}
}

// lookAgain is how often a caller that waits looks whether the runner was suspended.
const lookAgain = 5 * time.Second

// limitsOf returns the time limit that the caller gave the turn with the id, 0 if it gave none, and how long the
// conversation may stand still without a runner that lives. "": the first open turn, of another caller.
func limitsOf(c *conversations.Conversation, state *conversations.State, id string) (whole, still time.Duration) {
	at := slices.IndexFunc(state.Open, func(t conversations.Turn) bool { return id == "" || t.ID == id })
	if at < 0 {
		return 0, TurnTimeout
	}
	ask, err := c.Request(state.Open[at].Seq)
	if err != nil {
		return 0, TurnTimeout
	}
	still = cmp.Or(ask.Timeout, silenceOf(&ask, &state.Meta))
	if id == "" {
		return 0, still
	}
	return ask.Timeout, still
}

// latest returns when a turn was last begun or held, or when it is tried again; at least since.
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

// isRun reports whether a process that is not suspended runs the turn.
func (e *Engine) isRun(t *conversations.Turn) bool {
	if len(t.Starts) == 0 {
		return false
	}
	runner := t.Starts[len(t.Starts)-1].Runner
	return e.Project.Machine.IsAlive(runner) && !e.Project.Machine.Halted(runner.PID)
}

// errHalted returns the error for a conversation that its first open turn has blocked for some time.
func (e *Engine) errHalted(state *conversations.State, head *conversations.Turn, limit time.Duration) error {
	switch left := e.Lingers(state); {
	case left != nil && len(head.Starts) == 0:
		return fail.Errorf(fail.TimedOut, "the claude of turn %d has answered, and has still held the conversation for %s: it has background tasks", left.Seq, limit).
			Hint("to end them: nbs-worker conversation interrupt %s", human.ShellWord(string(state.Meta.Key)))
	case head.Seq == 0:
		return fail.Errorf(fail.TimedOut, "another process has held the conversation for %s", limit)
	case len(head.Starts) == 0:
		return fail.Errorf(fail.TimedOut, "turn %d of the conversation did not start within %s; another process holds the right to run it", head.Seq, limit)
	}
	runner := head.Starts[len(head.Starts)-1].Runner
	late := fail.Errorf(fail.TimedOut, "turn %d of the conversation has not ended within %s; pid %d runs it", head.Seq, limit, runner.PID)
	if e.Project.Machine.IsAlive(runner) && e.Project.Machine.Halted(runner.PID) {
		return fail.Errorf(fail.TimedOut, "%w, and is suspended", late).Hint("to let that process go on: kill -CONT %d", runner.PID)
	}
	return late
}
