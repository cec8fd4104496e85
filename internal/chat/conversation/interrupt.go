package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/platform/fswatch"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/team/headless"
)

// A turn is stopped by a line in its journal. The process that runs the turn sees the line, ends its claude, and
// finishes the turn with the class [turn.Interrupted]. A turn that has ended while its claude goes on is stopped alike. If
// that process was killed, or is suspended, the process that stops the turn ends what is left of its claude. A stop whose process is killed right after the line still counts.

const (
	stopWithin = 30 * time.Second      // for the end of a stopped turn
	stopPoll   = 50 * time.Millisecond // while its end is waited for
	stopLook   = time.Second           // of a runner that cannot watch its journal
)

// Stopped is how a turn that was to be stopped has ended.
type Stopped struct {
	conversations.Result        // its class is [turn.Interrupted] unless the turn was answered in that moment, or before
	After                string // what Claude still did after the answer and what was ended, in words; "": nothing
	Told                 bool   // the chat is told of that by itself
}

// Interrupt stops a turn of a conversation, or what its claude does after it, and returns how it has ended. With seq 0
// it is the turn that runs, or else what goes on after the last one; otherwise that turn, also if it has yet to begin.
// Errors: NotFound when no turn runs; Held when the turn is held; Conflict when another turn is before it; TimedOut when
// it does not end, for example because the process that runs it is suspended.
func (e *Engine) Interrupt(ctx context.Context, key conversations.Key, seq int, why string) (Stopped, error) {
	c := e.Project.Store.Conversations().Of(key)
	state, t, err := e.toStop(c, key, seq)
	if err != nil {
		return Stopped{}, err
	}
	return e.interrupt(ctx, c, &state, &t, why)
}

// InterruptRunning is Interrupt for a turn that runs, or waits only for what goes on after the turn before, and for no
// other. Errors: also NotFound when it does not run.
func (e *Engine) InterruptRunning(ctx context.Context, key conversations.Key, seq int, why string) (Stopped, error) {
	c := e.Project.Store.Conversations().Of(key)
	state, t, err := e.toStop(c, key, 0)
	if err != nil {
		return Stopped{}, err
	}
	if left := state.Left(t.Seq); left != nil && seq != 0 && len(state.Open) > 0 && state.Open[0].Seq == seq {
		if err := c.Stop(ctx, seq, why, e.Project.Now().UTC()); err != nil { // first, so that it does not begin
			return Stopped{}, err
		}
		if _, err := e.stopLeft(ctx, c, left, why); err != nil && fail.KindOf(err) != fail.NotFound {
			return Stopped{}, err
		}
		t = state.Open[0]
	}
	if seq != 0 && t.Seq != seq {
		return Stopped{}, fail.Errorf(fail.NotFound, "turn %d is not running", seq)
	}
	return e.interrupt(ctx, c, &state, &t, why)
}

func (e *Engine) interrupt(ctx context.Context, c *conversations.Conversation, state *conversations.State, t *conversations.Turn, why string) (Stopped, error) {
	if state.Left(t.Seq) != nil {
		return e.stopLeft(ctx, c, t, why)
	}
	err := c.Stop(ctx, t.Seq, why, e.Project.Now().UTC())
	if result, over, lookErr := c.Result(t.ID); over || lookErr != nil { // it ended by itself
		return Stopped{Result: result}, lookErr
	}
	if err != nil {
		return Stopped{}, err
	}
	result, err := e.awaitStopped(ctx, c, t)
	return Stopped{Result: result}, err
}

// Current returns the turn of a conversation that a stop is for: the one that runs, or is about to; else the one after
// which its claude goes on; else the first one that waits. nil: all are over.
func (e *Engine) Current(state *conversations.State) *conversations.Turn {
	var head *conversations.Turn
	if len(state.Open) > 0 {
		head = &state.Open[0]
	}
	left := e.Lingers(state)
	if left == nil || head != nil && len(head.Starts) > 0 {
		return head
	}
	if _, stays := e.voices.Load(left.Starts[0].Invocation); stays && head != nil && head.Held == nil { // it waits for no turn
		return head
	}
	return left
}

// toStop returns the turn to stop: an open one, or one whose claude goes on. Errors: NotFound; Held.
func (e *Engine) toStop(c *conversations.Conversation, key conversations.Key, seq int) (state conversations.State, t conversations.Turn, err error) {
	state, err = c.State()
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNone(key)
	}
	if err != nil {
		return state, t, err
	}
	current := e.Current(&state)
	if seq != 0 {
		for _, open := range state.Open {
			if open.Seq == seq {
				return state, open, nil
			}
		}
		if current == nil || current.Seq != seq {
			return state, t, fail.Errorf(fail.NotFound, "turn %d is not open", seq)
		}
	}
	switch {
	case current == nil:
		return state, t, errNothingRuns(key)
	case state.Left(current.Seq) == nil && current.Held == nil && current.Stop == nil && !e.isUnderWay(c, current):
		return state, t, fail.Errorf(fail.NotFound, "no turn is running; turn %d waits for a process that runs it", current.Seq).
			Hint("to give it up: nbs-worker conversation skip %s %d", human.ShellWord(string(key)), current.Seq)
	}
	return state, *current, nil
}

func errNothingRuns(key conversations.Key) error {
	return fail.Errorf(fail.NotFound, "no turn is running").
		Hint("to see what was said: nbs-worker conversation history %s", human.ShellWord(string(key)))
}

// isUnderWay reports whether a process has the right to run the turn, or its claude was left by one.
func (e *Engine) isUnderWay(c *conversations.Conversation, t *conversations.Turn) bool {
	unlock, err := c.TryTurn()
	if unlock == nil {
		return err == nil
	}
	unlock()
	return len(t.Starts) > 0 && headless.IsLeft(e.Project, t.Starts[len(t.Starts)-1].Invocation)
}

// awaitStopped waits until a turn that was stopped has ended. If no process runs it, it ends the turn itself.
func (e *Engine) awaitStopped(ctx context.Context, c *conversations.Conversation, t *conversations.Turn) (conversations.Result, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, stopWithin, errNotEnded(t, e.runnerOf(t)))
	defer cancel()
	for {
		result, state, err := c.Look(t.ID)
		if err != nil || result != nil {
			if result == nil {
				result = &conversations.Result{}
			}
			return *result, err
		}
		head := &state.Open[0]
		unlock, err := c.TryTurn()
		switch {
		case err != nil:
			return conversations.Result{}, err
		case unlock != nil:
			err = e.endStopped(ctx, c)
			unlock()
		case e.isSuspended(head):
			if err = headless.EndStopped(ctx, e.Project, head.Starts[len(head.Starts)-1].Invocation); err == nil {
				err = errSuspended(head, e.runnerOf(head))
			}
		default:
			err = clock.Sleep(ctx, stopPoll)
		}
		if err != nil {
			return conversations.Result{}, cmp.Or(context.Cause(ctx), err)
		}
	}
}

func (e *Engine) runnerOf(t *conversations.Turn) int {
	if len(t.Starts) == 0 {
		return 0
	}
	return t.Starts[len(t.Starts)-1].Runner.PID
}

// isSuspended reports whether the process that runs the turn is suspended.
func (e *Engine) isSuspended(t *conversations.Turn) bool {
	return len(t.Starts) > 0 && e.Project.Machine.IsAlive(t.Starts[len(t.Starts)-1].Runner) && e.Project.Machine.Halted(e.runnerOf(t))
}

func errNotEnded(t *conversations.Turn, runner int) error {
	if runner == 0 {
		return fail.Errorf(fail.TimedOut, "turn %d is stopped, but has not ended within %s; another process holds the right to run it", t.Seq, stopWithin)
	}
	return fail.Errorf(fail.TimedOut, "turn %d is stopped, but has not ended within %s; pid %d runs it", t.Seq, stopWithin, runner)
}

func errSuspended(t *conversations.Turn, runner int) error {
	return fail.Errorf(fail.TimedOut, "the claude of turn %d was ended; pid %d, which runs the turn, is suspended, and ends it when it goes on", t.Seq, runner).
		Hint("to let that process go on: kill -CONT %d", runner)
}

// endStopped ends the first open turn if it was stopped: what is left of its claude, and the turn. Its caller has the
// right to run turns.
func (e *Engine) endStopped(ctx context.Context, c *conversations.Conversation) error {
	state, err := c.State()
	if err != nil || len(state.Open) == 0 || state.Open[0].Stop == nil {
		return err
	}
	j := &job{Engine: e, c: c, state: &state, turn: &state.Open[0]}
	if j.ask, err = c.Request(j.turn.Seq); err != nil {
		return err
	}
	n := len(j.turn.Starts)
	if n == 0 {
		return j.stopped(ctx, turn.Outcome{}, e.Project.Now())
	}
	last := j.turn.Starts[n-1]
	e.Warm.Drop(ctx, c.Key())
	if err := headless.EndStopped(ctx, e.Project, last.Invocation); err != nil {
		return err
	}
	said, at, err := j.marked()
	switch {
	case err != nil:
		return err
	case said == nil:
		return j.stopped(ctx, turn.Outcome{}, last.At)
	case said.Answered:
		j.mode = at.Mode
		return j.finish(ctx, turn.Outcome{Answer: said.Answer, SessionID: j.present(at), Denials: said.Denials}, at.At)
	}
	j.mode = at.Mode
	return j.stopped(ctx, turn.Outcome{SessionID: j.present(at), Acted: said.Used}, at.At)
}

// stopped finishes a turn that was stopped.
func (j *job) stopped(ctx context.Context, o turn.Outcome, begun time.Time) error {
	o.Class, o.Detail = turn.Interrupted, j.whyStopped()
	if o.SessionID != "" && !j.isThere(o.SessionID) {
		o.SessionID = "" // nothing was said in it
	}
	return j.finish(ctx, o, begun)
}

// whyStopped returns who stopped the turn; "" if it was not stopped.
func (j *job) whyStopped() string {
	stop := stopOf(j.c, j.turn.Seq)
	if stop == nil {
		return ""
	}
	return stop.Why
}

// stopOf returns the stop of a turn that is the first open one, or whose claude goes on; nil if it was not stopped, or
// that is not known.
func stopOf(c *conversations.Conversation, seq int) *conversations.Stop {
	stop, _ := lookForStop(c, seq)
	return stop
}

// lookForStop is stopOf. It also reports whether the turn can still be stopped.
func lookForStop(c *conversations.Conversation, seq int) (stop *conversations.Stop, can bool) {
	state, err := c.State()
	if left := state.Left(seq); left != nil {
		return left.Stop, true
	}
	if len(state.Open) > 0 && state.Open[0].Seq == seq {
		return state.Open[0].Stop, true
	}
	return nil, err != nil
}

// watchStop returns a channel that is closed when the turn is stopped. leave ends the watch. Its end is waited for in
// watches, so that it does not keep the conversation.
func watchStop(ctx context.Context, c *conversations.Conversation, seq int, watches *sync.WaitGroup) (stop <-chan struct{}, leave func()) {
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan struct{})
	watches.Go(func() {
		if awaitStop(ctx, c, seq) {
			close(stopped)
		}
	})
	return stopped, cancel
}

// awaitStop waits until a turn is stopped. It returns false when the context ends, or the turn can be stopped no more.
func awaitStop(ctx context.Context, c *conversations.Conversation, seq int) bool {
	wait, unwatch := changesOf(c)
	defer unwatch()
	for {
		stop, can := lookForStop(c, seq)
		if stop != nil || !can {
			return stop != nil
		}
		if wait(ctx) != nil {
			return false
		}
	}
}

// changesOf returns how to wait for a change of a conversation's journal.
func changesOf(c *conversations.Conversation) (wait func(context.Context) error, unwatch func()) {
	poll := func(ctx context.Context) error { return clock.Sleep(ctx, stopLook) }
	files, err := fswatch.New()
	if err != nil { // the user has no watches left
		return poll, func() {}
	}
	if err := files.Folder(c.Path()); err != nil {
		return poll, files.Close
	}
	return func(ctx context.Context) error {
		if err := files.Change(ctx); err != nil && ctx.Err() == nil {
			return poll(ctx)
		}
		return ctx.Err()
	}, files.Close
}

// Words say how a turn that was to be stopped has ended.
func (s *Stopped) Words() string {
	words := fmt.Sprintf("had just ended turn %d", s.Seq)
	switch {
	case s.After != "":
		return fmt.Sprintf("has ended what went on after turn %d. %s", s.Seq, strings.TrimSuffix(s.After, "."))
	case turn.Class(s.Class) == turn.Interrupted:
		words = fmt.Sprintf("has stopped turn %d", s.Seq)
	case s.Class == "":
		words = fmt.Sprintf("had just answered turn %d", s.Seq)
	}
	if acted := Acted(&s.Result); acted != "" {
		words += "; " + acted
	}
	return words
}
