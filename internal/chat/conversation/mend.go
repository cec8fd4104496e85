package conversation

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
)

// A login, an outage or a restart of the machine is mended without a word to us. A turn that is held for such a cause is
// tried again when a message comes, which shows that a person is there; when a server starts; and now and then.
const (
	mendFirst = 15 * time.Minute
	mendLast  = 4 * time.Hour
)

// mending returns the hold of a turn whose cause may end by itself. The pause doubles with each try: it is as long as
// the turn has waited.
func (j *job) mending(class, reason string) conversations.Held {
	now := j.Project.Now()
	pause := min(max(now.Sub(j.turn.At), mendFirst), mendLast)
	return conversations.Held{Class: class, Reason: reason, Until: now.Add(pause), Uncounted: true, Mends: true}
}

// mayMend reports whether the cause of a hold may have ended. Earlier versions held such turns until a retry.
func mayMend(h *conversations.Held) bool {
	mending := []turn.Class{turn.Authentication, turn.Overloaded, turn.ServerError, ClassInUse}
	return h.Mends || h.Until.IsZero() && slices.Contains(mending, turn.Class(h.Class))
}

// hasten lets a held turn whose cause may have ended be tried now.
func (e *Engine) hasten(ctx context.Context, c *conversations.Conversation, is func(*conversations.Held) bool) error {
	err := c.Hasten(ctx, e.Project.Now(), is)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// TakeUp lets the turns of all conversations be tried now whose cause of waiting may have ended while no server ran. A
// turn whose runners were killed waits for its time: it may be what kills them.
func (e *Engine) TakeUp(ctx context.Context) error {
	all := e.Project.Store.Conversations()
	keys, _ := all.WithWork() // the list of conversations reports unreadable ones
	var errs []error
	for _, key := range keys {
		errs = append(errs, e.hasten(ctx, all.Of(key), func(h *conversations.Held) bool { return mayMend(h) && h.Class != string(turn.Killed) }))
	}
	return errors.Join(errs...)
}

// shared are the causes that hold the turns of all conversations at once.
var shared = []turn.Class{turn.Authentication, turn.Overloaded, turn.ServerError}

// mended lets the turns of other conversations be tried now whose cause of waiting has ended: this turn was answered,
// and it was held for the same cause. An answer also shows that Claude is logged in.
func (j *job) mended(ctx context.Context, begun time.Time) {
	ended := []turn.Class{turn.Authentication}
	if held := j.turn.Held; held != nil && slices.Contains(shared, turn.Class(held.Class)) {
		ended = append(ended, turn.Class(held.Class))
	}
	hastened, all := false, j.Project.Store.Conversations()
	keys, _ := all.WithWork() // the list of conversations reports unreadable ones
	for _, key := range keys {
		c := all.Of(key)
		state, err := c.State()
		if err != nil || key == j.c.Key() || state.Meta.ConfigDir != j.state.Meta.ConfigDir {
			continue
		}
		err = j.hasten(ctx, c, func(h *conversations.Held) bool {
			is := mayMend(h) && slices.Contains(ended, turn.Class(h.Class)) && !h.At.After(begun)
			hastened = hastened || is
			return is
		})
		if err != nil { // it is tried later, as it would be without this answer
			return
		}
	}
	if hastened && j.Hastened != nil {
		j.Hastened()
	}
}

// ErrMends is in the error of a turn that is tried again until its cause has ended. The journal records that as well.
var ErrMends = errors.New("is held")

// errMends returns the error for the first open turn if it is held for a cause that may end by itself.
func errMends(c *conversations.Conversation) error {
	state, err := c.State()
	if err != nil || len(state.Open) == 0 || state.Open[0].Held == nil || !state.Open[0].Held.Mends {
		return err
	}
	head := state.Open[0]
	return fail.Errorf(fail.Held, "the turn, number %d, %w: %s; it is tried again now and then, and at each new message", head.Seq, ErrMends, head.Held.Reason).
		Hint("to try it now: nbs-worker conversation retry %s", human.ShellWord(string(state.Meta.Key)))
}

// takeBack takes the last attempts back whose runners have died: no transcript has the text, and what was left of them
// has been ended. An attempt that failed under a living runner counts, since the text may be the cause.
func (j *job) takeBack(ctx context.Context) error {
	for n := len(j.turn.Starts); n > 0 && j.diedRunning(j.turn.Starts[n-1]); n-- {
		if err := j.c.Void(ctx, j.turn.Seq, j.turn.Starts[n-1].Invocation); err != nil {
			return err
		}
		j.turn.Starts, j.turn.Tries = j.turn.Starts[:n-1], max(0, j.turn.Tries-1)
	}
	return nil
}

// diedRunning reports whether the runner of an attempt has died. Its caller has the right to run turns, so a runner
// that is out of sight, as that of an earlier container, has died too.
func (j *job) diedRunning(s conversations.Start) bool {
	return !j.Project.Machine.IsAlive(s.Runner) || j.Project.Machine.HasEnded(s.Runner)
}

// void takes an attempt back whose claude could not be started.
func (j *job) void(ctx context.Context, invocation agent.Invocation) error {
	return j.c.Void(context.WithoutCancel(ctx), j.turn.Seq, invocation)
}
