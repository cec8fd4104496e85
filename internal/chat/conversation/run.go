package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/proc"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/turns"
)

// attempts is how often a turn is tried before a person has to decide.
const attempts = 3

// job is one attempt at a turn, under the right to run the conversation's.
type job struct {
	*Engine
	c     *conversations.Conversation
	state *conversations.State
	turn  *conversations.Turn
	ask   conversations.Request

	text    string   // to be sent: the user's, or a request to answer the last one
	notices []string // what the user has to know beside the answer
}

// run makes one attempt at the first open turn. An error leaves the turn open; every other outcome is
// written down.
func (e *Engine) run(ctx context.Context, c *conversations.Conversation, state *conversations.State, t *conversations.Turn) error {
	ask, err := c.Request(t.Seq)
	if err != nil {
		return err
	}
	j := &job{Engine: e, c: c, state: state, turn: t, ask: ask, text: textOf(&ask)}
	if len(t.Starts) > 0 {
		ended, err := j.lookUp(ctx)
		if err != nil || ended {
			return err
		}
		if t.Tries >= attempts {
			return j.hold(ctx, conversations.Held{Class: heldClass(t), Reason: fmt.Sprintf("%d attempts came to nothing: %s", attempts, heldReason(t))})
		}
	}
	if why, err := j.withdrawn(); why != "" || err != nil {
		if err != nil {
			return err
		}
		return j.over(ctx, conversations.Result{
			Seq: t.Seq, ID: t.ID, SHA: t.SHA, Class: string(classPowers), Error: why, Attempts: len(t.Starts), At: e.Now().UTC(),
		})
	}
	if !ask.Nested {
		release, err := j.awaitPlace(ctx)
		if err != nil {
			return err
		}
		defer release()
	}
	return j.speak(ctx)
}

// awaitPlace waits for a place among the turns that run on this machine, for as long as the turn itself may take. Errors:
// TimedOut; those of the context.
func (j *job) awaitPlace(ctx context.Context) (release func(), err error) {
	places := j.Store.ConversationTurns()
	if j.ask.Powers != nil {
		places = j.Store.AgentsTurns()
	}
	waiting := ctx
	if j.ask.Timeout > 0 {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeout(ctx, j.ask.Timeout)
		defer cancel()
	}
	release, err = places.Await(waiting, proc.Halted, func() {})
	if err != nil && ctx.Err() == nil {
		return nil, fail.Errorf(fail.TimedOut, "%s run on this machine already, and none ended within %s", human.Count(turns.AtOnce(), "turn"), j.ask.Timeout).
			Hint("to see what runs: nbs-worker conversation queue")
	}
	return release, err
}

// textOf is the text as Claude gets it: only what a person has typed may name files with @, which Claude reads unasked.
func textOf(ask *conversations.Request) string {
	if ask.Typed {
		return ask.Text
	}
	return claude.Literal(ask.Text)
}

// attempt is the number of the attempt that is made.
func (j *job) attempt() int { return len(j.turn.Starts) + 1 }

// speak sends the text to a warm claude, or to one that it starts, and writes down what came of it.
func (j *job) speak(ctx context.Context) error {
	w, err := j.worker(ctx)
	if err != nil {
		return j.failedToStart(ctx, err)
	}
	begun := j.Now()
	outcome, err := w.say(ctx, j)
	if err != nil {
		w.kill(ctx)
		if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return cmp.Or(ctx.Err(), err) // the turn stays open, and is looked up before anything is sent again
		}
		return j.finish(ctx, w, turn.Outcome{Class: classTimedOut, Detail: fmt.Sprintf("no answer within %s", j.ask.Timeout)}, begun)
	}
	switch {
	case outcome.Class != turn.Answered:
		w.end(ctx)
	case j.staysWarm():
		defer j.Warm.put(ctx, j.state.Meta.Key, w) // once the answer is written down: another process may have to end for it
	default:
		w.dropFiles(j.Store) // while the turn is open: who is killed later leaves them to nobody
		w.leave(ctx)
	}
	if outcome.Class == turn.Answered && j.awaitWritten(ctx, w, outcome) {
		return nil // the next attempt says it again
	}
	return j.settle(ctx, w, outcome, begun)
}

// settle writes down what came of an attempt that ended by itself.
func (j *job) settle(ctx context.Context, w *worker, o turn.Outcome, begun time.Time) error {
	if o.Class != turn.Answered && !j.isThere(o.SessionID) {
		o.SessionID = "" // claude was ended before it wrote anything: the next one begins the session
	}
	switch o.Class {
	case turn.Killed, turn.Interrupted: // the next attempt tells how far it came
		return nil
	case turn.SessionInUse: // it is tried again at once; after the last attempt this is what is told
		return j.hold(ctx, conversations.Held{Class: string(o.Class), Reason: o.Detail, Until: j.Now()})
	case turn.Overloaded, turn.ServerError:
		held := conversations.Held{Class: string(o.Class), Reason: o.Detail}
		if j.turn.Tries+1 < attempts {
			held.Until = j.Now().Add(backoff(j.turn.Tries + 1))
		}
		return errors.Join(j.confirm(ctx, o.SessionID), j.hold(ctx, held))
	case turn.Limit:
		until := o.RetryAt
		if !until.After(j.Now()) {
			until = j.Now().Add(limitPause)
		}
		return errors.Join(j.confirm(ctx, o.SessionID), j.hold(ctx, conversations.Held{Class: string(o.Class), Reason: o.Detail, Until: until, Uncounted: true}))
	case turn.Authentication:
		return errors.Join(j.confirm(ctx, o.SessionID), j.hold(ctx, conversations.Held{Class: string(o.Class), Reason: o.Detail}))
	case turn.UnknownSession:
		return j.goneMeanwhile(ctx, w, o)
	default:
		return j.finish(ctx, w, o, begun)
	}
}

const limitPause = 15 * time.Minute

// backoff is how long the next attempt waits after the n-th one: 5 s, 20 s.
func backoff(n int) time.Duration { return 5 * time.Second << (2 * (n - 1)) }

// finish writes down the result of a turn.
func (j *job) finish(ctx context.Context, w *worker, o turn.Outcome, begun time.Time) error {
	result := conversations.Result{
		Seq: j.turn.Seq, ID: j.turn.ID, SHA: j.turn.SHA,
		Answer: o.Answer, Class: string(o.Class), Error: o.Detail,
		Continuity: w.mode, SessionID: o.SessionID, Usage: conversations.Usage(o.Usage), CostUSD: o.CostUSD,
		DurationMS: j.Now().Sub(begun).Milliseconds(), Attempts: j.attempt(), At: j.Now().UTC(),
	}
	err := j.over(ctx, j.withNotices(result))
	w.awaitLeft() // claude may write to its transcript until then
	if o.SessionID != "" && !j.ask.Isolated {
		j.keep(ctx, o.SessionID)
	}
	return err
}

// over writes down the end of a turn, and notifies those who wait for it.
func (j *job) over(ctx context.Context, result conversations.Result) error {
	err := j.c.Finish(ctx, result)
	if err != nil {
		return err
	}
	j.isOver(result.ID)
	if j.Over != nil {
		j.Over(result)
	}
	return nil
}

// keep gives the transcript its second name in the archive. If that fails, the turn does not, and the next turn
// tries again.
func (j *job) keep(ctx context.Context, id agent.SessionID) {
	config, err := j.config()
	if err != nil {
		return
	}
	if file, found, err := config.Transcript(id); err == nil && found {
		_ = j.Store.Archive().Keep(ctx, id, file.Path)
	}
}

// hold leaves the turn first in its queue, until a time or until a person decides.
func (j *job) hold(ctx context.Context, held conversations.Held) error {
	held.At = j.Now().UTC()
	return j.c.Hold(ctx, j.turn.Seq, held)
}

func heldClass(t *conversations.Turn) string {
	if t.Held != nil {
		return t.Held.Class
	}
	return string(turn.Killed)
}

func heldReason(t *conversations.Turn) string {
	if t.Held != nil {
		return t.Held.Reason
	}
	return "claude was ended each time"
}
