package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/spool"
	"nbs-worker/internal/store/turns"
	"nbs-worker/internal/team/headless"
)

// attempts is how often a turn is tried before a person must decide.
const attempts = 3

// job is one attempt at a turn. Its caller holds the conversation's turn lock.
type job struct {
	*Engine
	c     *conversations.Conversation
	state *conversations.State
	turn  *conversations.Turn
	ask   conversations.Request

	text    string   // to send: the user's text, or a request to answer the last one
	mode    string   // of the answer: new or resumed
	notices []string // notices for the user, in addition to the answer
	leaving sync.WaitGroup
	stop    <-chan struct{} // closed when the turn is stopped
	voice   *voice          // of its claude; nil before that is opened
	lingers bool            // its claude may go on after the answer
	exited  chan struct{}   // closed when a claude for one turn that lingers has exited; nil: it exits at once
	release func()          // gives up the turn's place; nil: it has none
}

// run makes one attempt at the first open turn. After an error the turn stays open; every other outcome is recorded.
func (e *Engine) run(ctx context.Context, c *conversations.Conversation, state *conversations.State, t *conversations.Turn, watches *sync.WaitGroup) error {
	ask, err := c.Request(t.Seq)
	if err != nil {
		return err
	}
	j := &job{Engine: e, c: c, state: state, turn: t, ask: ask, text: textOf(&ask)}
	var leave func()
	j.stop, leave = watchStop(ctx, c, t.Seq, watches)
	defer leave()
	if len(t.Starts) > 0 {
		ended, err := j.lookUp(ctx)
		if err != nil || ended {
			return err
		}
		if t.Tries >= attempts {
			return j.hold(ctx, j.spent())
		}
	}
	if why, err := j.withdrawn(); why != "" || err != nil {
		return errors.Join(err, j.refuse(ctx, classPowers, why))
	}
	if why := j.overspent(); why != "" && len(t.Starts) == 0 { // a begun turn is ended
		return j.refuse(ctx, classSpent, why)
	}
	if !ask.Nested {
		release, err := j.awaitPlace(ctx)
		if err != nil {
			return err
		}
		j.release = sync.OnceFunc(release)
		defer j.release()
	}
	return j.speak(ctx)
}

// refuse records that the turn is not run. why "": nothing is recorded.
func (j *job) refuse(ctx context.Context, class turn.Class, why string) error {
	if why == "" {
		return nil
	}
	return j.over(ctx, conversations.Result{
		Seq: j.turn.Seq, ID: j.turn.ID, SHA: j.turn.SHA, Class: string(class), Error: why, Attempts: len(j.turn.Starts), At: j.Project.Now().UTC(),
	})
}

// awaitPlace waits for a free slot for a turn on this machine, for at most the turn's time limit. Errors: TimedOut;
// those of the context.
func (j *job) awaitPlace(ctx context.Context) (release func(), err error) {
	places := j.Project.Store.ConversationTurns()
	if j.ask.Powers != nil {
		places = j.Project.Store.AgentsTurns()
	}
	waiting, end := context.WithCancel(ctx)
	defer end()
	limit := cmp.Or(j.ask.Timeout, j.limits().Silence)
	if limit > 0 {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeout(waiting, limit)
		defer cancel()
	}
	go func() {
		select {
		case <-j.stop:
			end()
		case <-waiting.Done():
		}
	}()
	release, err = places.Await(waiting, j.Project.Machine.Halted, func() {})
	if err != nil && ctx.Err() == nil {
		return nil, fail.Errorf(fail.TimedOut, "%s already run on this machine, and none ended within %s", human.Count(turns.AtOnce(), "turn"), limit).
			Hint("to see what runs: nbs-worker conversation queue")
	}
	return release, err
}

// textOf returns the text for Claude. Claude reads files named with @ unasked, so only a person's text may name them.
func textOf(ask *conversations.Request) string {
	if ask.Typed {
		return ask.Text
	}
	return claude.Literal(ask.Text)
}

// attempt returns the number of the current attempt.
func (j *job) attempt() int { return len(j.turn.Starts) + 1 }

// speak sends the text to a warm claude, or to a new one, and records the outcome.
func (j *job) speak(ctx context.Context) error {
	s, err := j.open(ctx)
	if gone, is := errors.AsType[lostError](err); is {
		return j.settleLost(ctx, gone.error)
	}
	if errors.Is(err, conversations.ErrReplaced) {
		return nil // the next attempt reads the new text
	}
	if err != nil {
		return err // the turn stays open
	}
	begun := j.Project.Now()
	outcome, err := j.say(ctx, s)
	j.noteLost(s)
	if err != nil {
		s.Kill(ctx)
		if errors.Is(err, headless.ErrStopped) {
			return j.stopped(ctx, outcome, begun)
		}
		if fail.KindOf(err) != fail.TimedOut {
			return err // the turn stays open, and is looked up before the text is sent again
		}
		outcome.Class, outcome.Detail = classTimedOut, err.Error()
		return j.settle(ctx, s.ID, outcome, begun)
	}
	unharmed, beside := j.isUnharmed(&outcome), s.Beside()
	j.lingers = unharmed && beside.Later
	switch {
	case !unharmed:
		s.End(ctx)
	case j.staysWarm():
		j.staying.Store(s.Invocation, s)
		defer j.stay(ctx, s) // after the answer is recorded: it may end another process
	default:
		_ = s.DropFiles() // while the turn is open: a runner killed later could not remove them
		j.linger(ctx, s)  // claude takes a moment to exit; its answer is complete
	}
	if outcome.Class == turn.Answered && j.awaitWritten(ctx, s, &outcome) {
		return nil // the next attempt sends the text again
	}
	return j.settle(ctx, s.ID, outcome, begun)
}

// isUnharmed reports whether the claude can go on after the outcome: with the next text, or with its background tasks.
// A claude that did not take the text can, unless it was the first one: then it has no conversation yet.
func (j *job) isUnharmed(o *turn.Outcome) bool {
	switch o.Class {
	case turn.Answered:
		return true
	case turn.Blocked, turn.UnknownCommand:
		return j.staysWarm() && j.isThere(j.state.Session.ID)
	default:
		return false
	}
}

// settle records the outcome of an attempt that ended by itself.
func (j *job) settle(ctx context.Context, id agent.SessionID, o turn.Outcome, begun time.Time) error {
	if o.Class != turn.Answered && !j.isThere(o.SessionID) {
		o.SessionID = "" // claude ended before it wrote anything, or only that it refused the text: the next one begins the session
	}
	if o.Class != turn.Answered && j.whyStopped() != "" {
		return j.stopped(ctx, o, begun)
	}
	switch o.Class {
	case turn.Killed, turn.Interrupted: // the next attempt finds out how far it got
		return nil
	case turn.SessionInUse: // tried again at once; this is reported after the last attempt
		return j.hold(ctx, conversations.Held{Class: string(o.Class), Reason: o.Detail, Until: j.Project.Now()})
	case turn.Overloaded, turn.ServerError:
		held := j.mending(string(o.Class), o.Detail)
		if j.turn.Tries+1 < attempts {
			held = conversations.Held{Class: string(o.Class), Reason: o.Detail, Until: j.Project.Now().Add(backoff(j.turn.Tries + 1))}
		}
		return errors.Join(j.confirm(ctx, o.SessionID), j.hold(ctx, held))
	case turn.Limit:
		until := o.RetryAt
		if !until.After(j.Project.Now()) {
			until = j.Project.Now().Add(limitPause)
		}
		return errors.Join(j.confirm(ctx, o.SessionID), j.hold(ctx, conversations.Held{Class: string(o.Class), Reason: o.Detail, Until: until, Uncounted: true}))
	case turn.Authentication:
		return errors.Join(j.confirm(ctx, o.SessionID), j.hold(ctx, j.mending(string(o.Class), o.Detail)))
	case turn.UnknownSession:
		return j.settleLost(ctx, fmt.Errorf("the conversation %s cannot be resumed: %s", id, o.Detail))
	default:
		return j.finish(ctx, o, begun)
	}
}

const limitPause = 15 * time.Minute

// backoff returns the pause after the n-th attempt: 5 s, 20 s.
func backoff(n int) time.Duration { return 5 * time.Second << (2 * (n - 1)) }

// finish records the result of a turn.
func (j *job) finish(ctx context.Context, o turn.Outcome, begun time.Time) error {
	denials, made := j.noteDenials(&o), len(j.turn.Starts)
	if j.voice != nil {
		made = j.attempt()
	}
	result := conversations.Result{
		Seq: j.turn.Seq, ID: j.turn.ID, SHA: j.turn.SHA,
		Answer: o.Answer, Class: string(o.Class), Error: o.Detail,
		Continuity: j.mode, SessionID: o.SessionID, Usage: conversations.Usage(o.Usage), CostUSD: o.CostUSD, Acted: j.acted(&o),
		DurationMS: j.Project.Now().Sub(begun).Milliseconds(), Attempts: made, At: j.Project.Now().UTC(),
		Denials: denials, Warning: o.Warning, Lingers: j.lingers,
	}
	err := j.over(ctx, j.withNotices(result))
	if err == nil && j.voice != nil {
		j.voice.recorded(ctx, &result, j.ask.FailDenied)
	}
	if err == nil && result.Class == "" {
		j.mended(context.WithoutCancel(ctx), begun)
	}
	if j.release != nil {
		j.release() // a background task is no turn
	}
	j.left(ctx) // claude may write to its transcript until then
	if o.SessionID != "" && !j.ask.Isolated {
		j.keep(ctx, o.SessionID)
	}
	return err
}

// over records the end of a turn, and notifies the callers that wait for it.
func (j *job) over(ctx context.Context, result conversations.Result) error {
	err := j.c.Finish(ctx, result)
	if err != nil {
		return err
	}
	j.stopWaits(result.ID)
	if j.Over != nil {
		j.Over(result)
	}
	return nil
}

// keep links the transcript into the archive. If that fails, the turn still succeeds, and the next turn tries again.
func (j *job) keep(ctx context.Context, id agent.SessionID) {
	config, err := j.config()
	if err != nil {
		return
	}
	if file, found, err := config.Transcript(id); err == nil && found {
		_ = j.Project.Store.Archive().Keep(ctx, id, file.Path)
		j.announce(id, file.Size)
	}
}

// announce says to the memory that the conversation has a new turn. If that fails, the next turn announces it too.
func (j *job) announce(id agent.SessionID, size int64) {
	if j.state.Meta.Memory {
		_ = j.Project.Store.Spool().Put(spool.Announcement{Handle: agent.OfConversation(string(j.c.Key())), SessionID: id, Size: size, At: j.Project.Now().UTC()})
	}
}

// spent returns the hold of a turn whose attempts have all failed. It waits for a person, except if its runner was
// killed, or its conversation was in use: the text is not the cause of that.
func (j *job) spent() conversations.Held {
	held := conversations.Held{Class: heldClass(j.turn), Reason: fmt.Sprintf("%d attempts failed: %s", attempts, heldReason(j.turn))}
	if held.Class == string(ClassInUse) || j.diedRunning(j.turn.Starts[len(j.turn.Starts)-1]) {
		return j.mending(held.Class, held.Reason)
	}
	return held
}

// hold keeps the turn first in its queue, until a time or until a person decides.
func (j *job) hold(ctx context.Context, held conversations.Held) error {
	held.At = j.Project.Now().UTC()
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
