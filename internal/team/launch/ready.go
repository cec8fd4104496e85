package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/observe"
)

const (
	readyPoll = 10 * time.Millisecond
	// screenAfter is when the screen of a claude that is not ready is first searched for a dialog. screenEvery is the
	// interval after that.
	screenAfter = 700 * time.Millisecond
	screenEvery = 250 * time.Millisecond
	// startLimit is how long tmux and the launcher may take until claude runs.
	startLimit = 10 * time.Second
	// serverLimit is the least time that a tmux server gets to start, even if the wait for the agent is shorter: giving
	// up too early would leave no session.
	serverLimit = 2 * time.Second
	// lastLook is how long tmux may take to show a claude that was not ready in time.
	lastLook = 5 * time.Second
	// unremarked is how long a start takes before it reports what it is waiting for.
	unremarked = time.Second
)

// starting watches one start.
type starting struct {
	Starter
	plan       Plan
	record     agent.Record
	begun      time.Time
	limit      time.Duration // of the wait
	lastScreen time.Time
	lastBelow  time.Time // when the children of the started process were last searched for claude
	waiting    time.Time // when it was first seen to wait for a person without its prompt on disk; zero: it does not
	full       time.Time // when the disk of its transcript was first seen full without its prompt; zero: it is not
	refused    time.Time // when its screen first showed that a hook has refused the prompt; zero: it does not
	unclear    time.Time // when a dialog with unrecognised choices was first seen; zero: never
	blank      time.Time // when its screen was first seen empty although it is ready; zero: never
	unread     error     // why its transcript could not be read the last time; nil: it could
	unanswered error     // why tmux did not show its pane the last time; nil: it did
	ready      bool      // claude's registry says so; the prompt may not be on disk yet
	told       string    // the last progress message
}

// await returns when the started agent is ready and has its prompt; without a wait, when it runs. Errors: Held at a
// dialog; TimedOut; claude's own last words when it left.
func (s Starter) await(ctx, interrupt context.Context, p Plan, r agent.Record) (agent.Record, error) {
	w := &starting{Starter: s, plan: p, record: r, begun: time.Now(), limit: cmp.Or(p.Wait, startLimit)}
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	looking, enough := context.WithCancel(ctx)
	defer enough()
	defer context.AfterFunc(interrupt, enough)()
	for {
		look, end := context.WithDeadline(looking, w.begun.Add(w.limit)) // a tmux server that is stopped does not answer a look
		done, err := w.look(look)
		cut := look.Err() != nil
		end()
		if done || err != nil && !cut {
			return w.record, err
		}
		if w.isLate() {
			last, end := context.WithTimeout(ctx, lastLook)
			defer end()
			return w.record, w.timedOut(last)
		}
		w.tell()
		select {
		case <-interrupt.Done():
			return w.record, fail.Errorf(fail.Interrupted, "interrupted; the start continues").
				Hint("nbs-worker session %s", r.Handle)
		case <-tick.C:
		}
	}
}

// isLate reports whether the start has reached its limit. On a busy machine it moves the limit of a patient wait first.
func (w *starting) isLate() bool {
	if time.Since(w.begun) <= w.limit {
		return false
	}
	if w.plan.Patience {
		w.limit = max(w.limit, w.Project.Machine.Patience(w.plan.Wait))
	}
	return time.Since(w.begun) > w.limit
}

// tell reports what is being waited for, once the start takes longer than a person expects.
func (w *starting) tell() {
	if w.plan.Progress == nil || time.Since(w.begun) < unremarked {
		return
	}
	what := "claude was started; waiting until it is ready"
	switch {
	case !w.blank.IsZero():
		what = "claude is ready; waiting until its terminal shows that"
	case w.ready:
		what = "claude is ready; waiting until the prompt is in its transcript"
	case w.record.Process.PID == 0:
		what = "waiting until tmux has started claude"
	}
	if what != w.told {
		w.plan.Progress(what)
		w.told = what
	}
}

// look takes one look. done reports that the wait is over.
func (w *starting) look(ctx context.Context) (done bool, err error) {
	record, err := w.Project.Store.Load(w.record.Handle)
	if fail.KindOf(err) == fail.NotFound {
		return false, w.unrecorded()
	}
	if err != nil {
		return false, err
	}
	if !observe.SameStart(record.Process, w.record.Process) {
		return false, agent.ErrSuperseded
	}
	w.record = record
	if exit := record.ExitOf(record.Process.Invocation); exit != nil {
		return false, left(exit)
	}
	switch {
	case record.Process.PID == 0:
		return false, w.checkLauncher(ctx)
	case w.plan.Wait == 0:
		return true, nil
	case w.Project.Machine.IsGone(record.Process.Identity) && w.Project.Machine.IsGone(record.Process.LauncherIdentity()):
		return false, w.vanished()
	}
	if entry, err := w.Project.Registered(&record); err == nil && entry.Status != "" {
		w.ready = true
		return w.prompted(ctx, entry)
	} else if errors.Is(err, fs.ErrNotExist) {
		if err := w.findWrapped(ctx); err != nil {
			return false, err
		}
	}
	return false, w.checkDialog(ctx)
}

// findWrapped records a claude that runs as a child of the started process: the user's wrapper does not exec claude.
// Only claude's registry entry shows that, so findWrapped waits for the entry.
func (w *starting) findWrapped(ctx context.Context) error {
	const every = 100 * time.Millisecond
	if time.Since(w.begun) < screenEvery || time.Since(w.lastBelow) < every {
		return nil
	}
	w.lastBelow = time.Now()
	wrapped, found := w.Project.FindWrapped(&w.record)
	if !found {
		return nil
	}
	_, err := w.Project.Store.Update(ctx, w.record.Handle, func(r *agent.Record) error {
		if !observe.SameStart(r.Process, w.record.Process) {
			return agent.ErrSuperseded
		}
		r.Process.Wrapped = &wrapped
		return nil
	})
	return err
}

// unrecorded returns the error for a record that was removed during the start. It names the session id, because the
// id is stored in no other place and another start would create a new one.
func (w *starting) unrecorded() error {
	return fail.Errorf(fail.NotFound, "the record was removed while the agent was started, in the conversation %s", w.record.SessionID).
		Hint("to find its claude and give it a record again: nbs-worker adopt --list")
}

// prompted reports whether a ready claude has its prompt on disk: then a kill cannot lose it. A slash command may
// open a dialog instead.
func (w *starting) prompted(ctx context.Context, entry live.Entry) (bool, error) {
	if w.plan.Prompt == "" {
		return w.checkLogin(ctx)
	}
	transcript, found, err := w.plan.config.Transcript(w.record.SessionID)
	w.unread = err // while another thing cannot be read, it may still come
	if found {
		hasMessages, err := transcript.HasMessagesAfter(w.plan.transcriptSize)
		if err != nil {
			return false, err
		}
		if hasMessages {
			return w.checkLogin(ctx)
		}
	}
	if lasts(&w.waiting, entry.Status == live.StatusWaiting) {
		return false, fail.Errorf(fail.Held, "claude waits for a person (%s), and the prompt is not in its transcript", entry.WaitingFor).
			Hint("answer it%s", w.Project.WayToAnswer(w.record.Handle))
	}
	if err := w.checkRefusal(ctx); err != nil {
		return false, err
	}
	return false, w.checkRoom()
}

// transcriptLag is how far claude's transcript may be behind its registry. If a turn asks for a permission at once,
// claude is seen to wait before its prompt is on disk.
const transcriptLag = 2 * time.Second

// lasts reports whether so has been true for all of transcriptLag. since is when it was first seen true.
func lasts(since *time.Time, so bool) bool {
	if !so {
		*since = time.Time{}
		return false
	}
	if since.IsZero() {
		*since = time.Now()
	}
	return time.Since(*since) >= transcriptLag
}

// hookHint names what may end each new session of a tmux server.
const hookHint = "if this happens each time, look in your tmux.conf for a hook that ends sessions (set-hook)"

// left returns the error for a claude that ended before it was ready, with its own words.
func left(exit *agent.Exit) error {
	if exit.Error != "" {
		return fail.Errorf(fail.Kind(exit.Code), "%s", exit.Error)
	}
	words := quoteScreen(exit.LastScreen)
	err := fail.Errorf(claude.RefusalKind(exit.LastScreen), "claude exited before it was ready (%s)%s", exit.Summary(), words)
	switch {
	case exit.HungUp:
		return err.Hint("its tmux session, or its tmux server, has ended; you can try again safely").Hint(hookHint)
	case err.Kind == fail.Unfit:
		return err.Hint("claude is too old: version %s or newer is needed; update it, or name another: export %s=/path/to/claude", claude.OldestTested, claude.BinaryVariable)
	}
	return err
}

// vanished returns the error for a start whose processes are gone. It loads the record again: the exit may have been
// recorded since the last look.
func (w *starting) vanished() error {
	record, err := w.Project.Store.Load(w.record.Handle)
	if err != nil {
		return err
	}
	if exit := record.ExitOf(record.Process.Invocation); exit != nil {
		return left(exit)
	}
	return fail.Errorf(fail.Failed, "its tmux session, or its launcher, was ended during the start").Hint(hookHint)
}

// checkLauncher detects a launcher or a tmux session that ended before claude ran.
func (w *starting) checkLauncher(ctx context.Context) error {
	if w.record.Process.Launcher.PID != 0 {
		if w.Project.Machine.IsGone(w.record.Process.LauncherIdentity()) {
			return w.vanished()
		}
		return nil
	}
	if time.Since(w.lastScreen) < screenEvery || time.Since(w.begun) < screenEvery {
		return nil
	}
	w.lastScreen = time.Now()
	_, panes, err := w.Project.Panes(ctx, &w.record)
	if w.unanswered = err; err != nil {
		return nil //nolint:nilerr // this proves nothing; the deadline decides
	}
	if _, there := w.Project.PaneOf(panes, w.record.Process); !there {
		return w.vanished()
	}
	return nil
}

func (w *starting) timedOut(ctx context.Context) error {
	handle := w.record.Handle
	switch {
	case w.ready && w.unread != nil:
		return fail.Errorf(fail.TimedOut, "claude is ready, and after %s it is still unknown whether it has the prompt: %w", w.limit, w.unread).
			Hint("look at it: nbs-worker attach %s", handle)
	case w.ready:
		return fail.Errorf(fail.TimedOut, "claude is ready, but the prompt was not in its transcript after %s", w.limit).
			Hint("look at it: nbs-worker attach %s; claude ignores a slash command that it does not know", handle)
	case w.record.Process.PID == 0 && w.unanswered != nil:
		return fail.Errorf(fail.TimedOut, "claude was not running after %s: %w", w.limit, w.unanswered)
	case w.plan.Wait == 0:
		return fail.Errorf(fail.TimedOut, "tmux did not start claude within %s", w.limit).
			Hint("nbs-worker session %s", handle)
	case w.record.Process.PID == 0:
		return fail.Errorf(fail.TimedOut, "claude was not running after %s; its start continues", w.limit).
			Hint("nbs-worker session %s", handle)
	default:
		return w.unready(ctx)
	}
}

// leftMeanwhile returns the error for a claude that ended after it was seen to be ready.
func (s Starter) leftMeanwhile(ctx context.Context, handle agent.Handle) error {
	r, err := s.Project.Settled(ctx, handle)
	if err != nil {
		return err
	}
	if exit := r.ExitOf(r.Process.Invocation); exit != nil {
		return left(exit)
	}
	return fail.Errorf(fail.Failed, "claude and its launcher were killed during the start")
}

// verify checks that what runs is what was recorded, and that no other claude has the conversation open. No other
// claude can have it if its id was created for this start. Errors: [WrongError].
func (s Starter) verify(ctx context.Context, r agent.Record, minted bool) error {
	if r.Process.Tmux != nil && s.Project.Machine.Terminal(r.Process.Launcher.PID) == "" { // its pane was closed, so it is leaving
		s.Project.Machine.WaitGone(ctx, r.Process.Identity, startLimit)
	}
	drift, err := s.Project.DriftOf(&r)
	if s.Project.Machine.IsGone(r.Process.Identity) {
		return s.leftMeanwhile(ctx, r.Handle)
	}
	if err != nil {
		return err
	}
	if !minted {
		strangers, err := s.Project.Strangers(&r)
		if err != nil {
			return err
		}
		if len(strangers) > 0 {
			return &WrongError{s.Project.ErrStranger(&r, strangers)}
		}
	}
	if len(drift) == 0 {
		return nil
	}
	words := make([]string, len(drift))
	for i, d := range drift {
		words[i] = fmt.Sprintf("%s is %s, and the record has %s", d.Field, human.Quote(d.Live), human.Quote(d.Recorded))
	}
	return &WrongError{fail.Errorf(fail.Failed, "the running claude differs from the record: %s; it was ended", strings.Join(words, "; "))}
}
