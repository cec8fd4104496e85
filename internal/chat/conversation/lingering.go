package conversation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/team/headless"
)

// A claude may go on after its answer: it has background tasks, and says by itself what came of them. One for a single
// turn keeps the conversation until it exits; one that is kept for the next text does not. Both are ended by a stop of
// the turn that they have answered, the same line in the journal as for a turn that runs.

// linger waits, beside the recording of the result, until a claude for one turn has exited. Its background tasks may take
// as long as the turn may, or as it may be silent. [Engine.Await] waits for what Claude says of them.
func (j *job) linger(ctx context.Context, s *headless.Session) {
	if j.lingers {
		j.exited = make(chan struct{})
		j.lingering.Store(j.turn.ID, j.exited)
	}
	j.leaving.Go(func() { s.Linger(ctx, j.stop, cmp.Or(j.ask.Timeout, j.limits().Silence, TurnTimeout)) })
}

// left waits for a claude that lingers.
func (j *job) left(ctx context.Context) {
	j.leaving.Wait()
	if j.exited == nil {
		return
	}
	j.closeLeft(context.WithoutCancel(ctx), j.c, j.turn.Seq)
	j.lingering.Delete(j.turn.ID)
	close(j.exited)
}

// stay keeps a claude for the next text. It is ended if the turn that it has answered is stopped while it has something to
// do: another process, which stops it, cannot know that.
func (j *job) stay(ctx context.Context, s *headless.Session) {
	j.Warm.Put(ctx, j.c.Key(), s)
	j.staying.Delete(s.Invocation)
	if !j.lingers {
		return
	}
	if stopOf(j.c, j.turn.Seq) != nil { // since the answer was recorded: before the next text can take the claude
		j.endKept(ctx)
		return
	}
	waiting, end := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		<-s.Ended()
		end()
	}()
	go func() {
		defer end()
		if awaitStop(waiting, j.c, j.turn.Seq) {
			j.endKept(waiting)
		}
	}()
}

// endKept ends the claude that is kept after the turn, which was stopped, if it has something to do.
func (j *job) endKept(ctx context.Context) {
	if j.Warm.Busy(j.c.Key()) {
		j.Warm.Drop(ctx, j.c.Key())
	}
	j.closeLeft(context.WithoutCancel(ctx), j.c, j.turn.Seq)
}

// closeLeft records that a claude that was to end has ended, or had nothing to do, unless a notice has said so.
func (e *Engine) closeLeft(ctx context.Context, c *conversations.Conversation, seq int) {
	state, err := c.State()
	if left := state.Left(seq); err == nil && left != nil && left.Stop != nil {
		_ = c.Add(ctx, conversations.Unasked{ID: uuid.NewString(), Turn: left.ID, Notice: true, Ended: true, At: e.Project.Now().UTC()})
	}
}

// Whole returns a result with what Claude said by itself after the answer, if this process still waits for that. When
// the context ends first, it returns the result as it is: the turn was answered.
func (e *Engine) Whole(ctx context.Context, key conversations.Key, result *conversations.Result) conversations.Result {
	if exited, is := e.lingering.Load(result.ID); is {
		select {
		case <-exited.(chan struct{}):
		case <-ctx.Done():
		}
	}
	if now, there, err := e.Project.Store.Conversations().Of(key).Result(result.ID); err == nil && there {
		return now
	}
	return *result
}

// Lingers returns the turn whose claude goes on after its answer: it has background tasks, or says something by itself.
// nil: none does.
func (e *Engine) Lingers(state *conversations.State) *conversations.Turn {
	for i := range state.Lingering {
		if left := &state.Lingering[i]; e.goesOn(state.Meta.Key, left) {
			return left
		}
	}
	return nil
}

// Awaited says for what a verb waits that cannot be carried out beside a turn, and how to end that; "": for nothing.
func (e *Engine) Awaited(state *conversations.State) string {
	if open, err := e.Open(state); err == nil && len(open) > 0 && open[0].Word == Running {
		return fmt.Sprintf("turn %d, which is being answered; --now stops it", open[0].Seq)
	}
	left := e.Lingers(state)
	if left == nil {
		return ""
	}
	unlock, err := e.Project.Store.Conversations().Of(state.Meta.Key).TryTurn()
	if unlock != nil { // it is kept for the next text, and keeps nothing waiting
		unlock()
	}
	if unlock != nil || err != nil {
		return ""
	}
	return fmt.Sprintf("the background tasks of turn %d, which is answered; --now ends them", left.Seq)
}

func (e *Engine) goesOn(key conversations.Key, left *conversations.Turn) bool {
	invocation := left.Starts[0].Invocation
	if _, is := e.voices.Load(invocation); is {
		return e.isBusyStaying(invocation) || e.Warm.Busy(key) // in this order: it comes from one to the other
	}
	if _, is := e.lingering.Load(left.ID); is {
		return true
	}
	return headless.IsLeft(e.Project, invocation) // of another process, which knows whether it is busy
}

// isBusyStaying reports whether a claude that is about to be kept has something to do. Its answer may be known by then.
func (e *Engine) isBusyStaying(invocation agent.Invocation) bool {
	s, is := e.staying.Load(invocation)
	if !is {
		return false
	}
	beside := s.(*headless.Session).Beside()
	return beside.Busy()
}

// isLeft reports whether the claude of a turn that has ended still runs.
func (e *Engine) isLeft(left *conversations.Turn) bool {
	invocation := left.Starts[0].Invocation
	_, stays := e.voices.Load(invocation)
	_, lingers := e.lingering.Load(left.ID)
	return stays || lingers || headless.IsLeft(e.Project, invocation)
}

// stopLeft ends a claude that goes on after its answer. Errors: NotFound when it had nothing left to do; TimedOut.
func (e *Engine) stopLeft(ctx context.Context, c *conversations.Conversation, left *conversations.Turn, why string) (Stopped, error) {
	before, _, err := c.Recorded(ctx, left.ID)
	if err == nil {
		err = c.Stop(ctx, left.Seq, why, e.Project.Now().UTC())
	}
	if fail.KindOf(err) == fail.Conflict { // it has ended by itself
		return Stopped{}, errNothingRuns(c.Key())
	}
	if err == nil {
		err = e.awaitLeft(ctx, c, left)
	}
	if err != nil {
		return Stopped{}, err
	}
	after, there, err := c.Recorded(ctx, left.ID)
	words := strings.TrimSpace(strings.TrimPrefix(after.Notice, before.Notice))
	if err == nil && (!there || words == "") {
		err = errNothingRuns(c.Key())
	}
	if err != nil {
		return Stopped{}, err
	}
	lines, err := c.Journal()
	told := slices.ContainsFunc(lines, func(l conversations.Line) bool {
		return l.Unasked != nil && l.Unasked.Turn == left.ID && l.Unasked.Ended && l.Unasked.Tell
	})
	return Stopped{Result: after, After: words, Told: told}, err
}

// leftGrace is how long the process of a claude that has ended may take to say so.
const leftGrace = 2 * time.Second

// awaitLeft waits until the claude of a turn has ended that was stopped after its answer. If the process that started it
// is gone, it ends the claude itself.
func (e *Engine) awaitLeft(ctx context.Context, c *conversations.Conversation, t *conversations.Turn) error {
	ctx, cancel := context.WithTimeoutCause(ctx, stopWithin, errNotEnded(t, e.runnerOf(t)))
	defer cancel()
	var gone time.Time
	for {
		state, err := c.State()
		left := state.Left(t.Seq)
		switch {
		case err != nil || left == nil:
			return err
		case e.isSuspended(left):
			if err = headless.EndStopped(ctx, e.Project, left.Starts[0].Invocation); err == nil {
				err = errSuspended(left, e.runnerOf(left))
			}
		case !e.Project.Machine.IsAlive(left.Starts[0].Runner):
			return e.endOrphan(ctx, c, left)
		case e.isLeft(left):
			gone = time.Time{}
		case gone.IsZero():
			gone = time.Now()
		case time.Since(gone) > leftGrace:
			e.closeLeft(ctx, c, left.Seq)
			return nil
		}
		if err == nil {
			err = clock.Sleep(ctx, stopPoll)
		}
		if err != nil {
			return cmp.Or(context.Cause(ctx), err)
		}
	}
}

// endOrphan ends a claude that goes on after its answer, and whose process was killed.
func (e *Engine) endOrphan(ctx context.Context, c *conversations.Conversation, left *conversations.Turn) error {
	was := headless.IsLeft(e.Project, left.Starts[0].Invocation)
	if err := headless.EndLeft(ctx, e.Project, left.Starts[0].Invocation); err != nil {
		return err
	}
	if !was {
		e.closeLeft(ctx, c, left.Seq)
		return nil
	}
	v := &voice{Engine: e, c: c, turn: left.ID}
	v.cut(nil) //nolint:contextcheck,nolintlint // it is recorded also if the caller gives up
	return nil
}

// stoppedAfter reports whether a claude was stopped after the answer to the turn with this id.
func stoppedAfter(state *conversations.State, id string) bool {
	return slices.ContainsFunc(state.Lingering, func(left conversations.Turn) bool { return left.ID == id && left.Stop != nil })
}

// stoppedWords says what was ended when a claude was stopped after its answer.
func stoppedWords(tasks []string) string {
	switch len(tasks) {
	case 0:
		return "Claude had answered; it was ended before it had said what came of its background tasks."
	case 1:
		return fmt.Sprintf("Claude had answered; its background task was ended: %s.", human.Legible(tasks[0]))
	default:
		return fmt.Sprintf("Claude had answered; its %d background tasks were ended: %s.", len(tasks), human.Legible(strings.Join(tasks, "; ")))
	}
}
