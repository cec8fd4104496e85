package launcher

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/restart"
)

// Restarter prepares the starts that a launcher makes itself, by the rules of a verb's start.
type Restarter interface {
	// Ready claims the next start of an agent whose last start is over. It waits for the turn of the start, and holds
	// the agent until the start is proved. Errors: [agent.ErrSuperseded] when the agent must not be started any more;
	// [ErrPaused] when not yet.
	Ready(ctx context.Context, over *agent.Record, last store.Launch) (Restart, error)
}

// ErrPaused means that the project is paused, so no launcher restarts an agent.
var ErrPaused = errors.New("the project is paused")

// Restart is a start of an agent that a launcher makes.
type Restart struct {
	Launch store.Launch

	// Prove returns when claude is ready or takes too long. Its error is why claude must not run: it is not alone, or
	// not what was recorded. nil: a verb or a person asked for the start, and checks it.
	Prove   func(ctx context.Context) error
	Release func() // releases the agent for other commands, and the turn for other starts
}

func (r *Restart) release() {
	if r.Release != nil {
		r.Release()
	}
	r.Release = nil
}

// decide decides what follows an end, and writes it into the record. While a verb is about to start the agent, the
// verb decides.
func (l *Launcher) decide(r *agent.Record, end restart.Ending) restart.Decision {
	if l.Restarts == nil {
		return restart.Decision{}
	}
	end.Asked = end.Asked || r.Desired == agent.DesiredStopped || l.verbStarts(r.Handle)
	apart := rand.Float64() //nolint:gosec // no secret: agents that fell together should not rise together
	decision := restart.Decide(r.LaunchRestart(), r.Restarts, end, l.Now(), apart)
	r.Restarts = decision.Restarts
	return decision
}

// journalDecision journals a decision with its reason.
func (l *Launcher) journalDecision(ctx context.Context, r *agent.Record, decision restart.Decision) error {
	event := "down"
	switch {
	case decision.Why == "":
		return nil
	case decision.Again:
		event = "backoff"
	case decision.Restarts.Hold != nil:
		event = "held"
	}
	return l.journal(ctx, event, r, decision.Why)
}

// again waits for the decided time and makes the next start ready; nil when the agent stays down.
func (l *Launcher) again(ctx context.Context, over *ended, last store.Launch, signals chan os.Signal) *Restart {
	for decision := over.decision; ; {
		l.tell(decision)
		if !decision.Again {
			return nil
		}
		debug.FreeOSMemory()
		next, asked, err := l.readyIn(ctx, decision.In, &over.record, last, signals)
		switch {
		case err == nil:
			return &next
		case errors.Is(err, agent.ErrSuperseded):
			return nil
		case asked:
			l.noteAsked(ctx, &over.record)
			return nil
		}
		decision = l.noteUnready(ctx, &over.record, err, signals)
	}
}

// pauseRetry is how often the launcher checks whether a pause has ended.
const pauseRetry = time.Minute

// readyIn waits for a time, and while the project is paused or the disk is full, and then makes the next start ready.
// asked reports that the launcher was asked to leave.
func (l *Launcher) readyIn(ctx context.Context, in time.Duration, over *agent.Record, last store.Launch, signals chan os.Signal) (next Restart, asked bool, err error) {
	waiting, stop := l.untilAsked(ctx, signals, func() bool { return l.isTakenBack(over) })
	defer stop()
	for {
		if err = l.due(waiting, in); err == nil {
			next, err = l.Restarts.Ready(waiting, over, last)
		}
		if err != nil && errors.Is(context.Cause(waiting), agent.ErrSuperseded) {
			err = agent.ErrSuperseded
		}
		switch {
		case errors.Is(err, ErrPaused):
			in = pauseRetry
		case noRoom(err):
			in = roomRetry
		default:
			return next, waiting.Err() != nil, err
		}
	}
}

// aWhile is how often a launcher that waits for long looks at the clock.
const aWhile = time.Minute

// due returns after a time, which the machine may sleep through: a timer stands still then, and the clock goes on. Errors:
// those of the context; [ErrPaused].
func (l *Launcher) due(ctx context.Context, in time.Duration) error {
	for end := l.Now().Add(in).Round(0); ; in -= aWhile { // Round: without the clock of the timers
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.after(min(in, aWhile)):
		}
		if in <= aWhile || !l.Now().Round(0).Before(end) {
			break
		}
	}
	if pause, err := l.Store.Watching().Paused(); pause != nil || err != nil {
		return ErrPaused
	}
	return nil
}

func (l *Launcher) after(in time.Duration) <-chan time.Time {
	if l.testOnlyAfter != nil {
		return l.testOnlyAfter(in)
	}
	return time.After(in)
}

// untilAsked returns a context that ends when the launcher is asked to leave: by a command, by the end of its
// terminal, or by a person's C-c there. The signal is kept in case a claude still starts. The context's cause is
// [agent.ErrSuperseded] when the record shows that a command has cancelled the next start.
func (l *Launcher) untilAsked(ctx context.Context, signals chan os.Signal, isTakenBack func() bool) (waiting context.Context, stop func()) {
	waiting, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-waiting.Done():
				return
			case sig := <-signals:
				switch {
				case leaves(sig) || sig == unix.SIGINT || sig == unix.SIGQUIT:
					cancel(nil)
					put(signals, sig)
					return
				case sig == observe.FollowSignal && isTakenBack():
					cancel(agent.ErrSuperseded)
					return
				}
			}
		}
	}()
	return waiting, func() { cancel(nil); <-done }
}

// isTakenBack reports whether the record says that the next start was cancelled.
func (l *Launcher) isTakenBack(over *agent.Record) bool {
	r, err := l.Store.Load(over.Handle)
	return err == nil && checkCurrent(&r, over.Process.Invocation) == nil && !r.AwaitsStart()
}

// leaves reports whether a signal asks the launcher to leave.
func leaves(sig os.Signal) bool { return sig == unix.SIGTERM || sig == unix.SIGHUP }

// wasAsked reports whether the launcher was asked to leave at the moment its claude ended.
func wasAsked(signals chan os.Signal) (asked bool) {
	for {
		select {
		case sig := <-signals:
			asked = asked || leaves(sig)
		default:
			return asked
		}
	}
}

// put puts a signal back into the channel.
func put(signals chan<- os.Signal, sig os.Signal) {
	select {
	case signals <- sig:
	default: // it is full of other signals, and claude will get one of them
	}
}

// provingAtMost is how long an unproved start keeps other commands from the agent. A command that would stop a
// hanging claude waits longer.
const provingAtMost = 15 * time.Second

// prove proves, in the background, a start that the launcher made itself, and kills a claude that must not run.
// proven ends the proof and returns when the proof is over.
func (l *Launcher) prove(ctx context.Context, next *Restart, c *child) (proven func()) {
	switch {
	case next.Prove == nil && next.Release == nil:
		return func() {}
	case next.Prove == nil:
		return l.keepTurn(next, c)
	}
	ctx, cancel := context.WithCancel(ctx)
	done, letGo := make(chan struct{}), sync.OnceFunc(next.release)
	go func() {
		select {
		case <-l.after(provingAtMost):
			letGo()
		case <-done:
		}
	}()
	go func() {
		defer close(done)
		defer letGo()
		if err := next.Prove(ctx); err != nil {
			c.wrong.Store(&err)
			_ = c.cmd.Process.Kill()
		}
		next.Prove = nil     // frees the plan of the start
		debug.FreeOSMemory() // the long sleep has begun
	}()
	return func() { cancel(); <-done }
}

// keepTurn gives back the turn of an unproved start when claude is ready or takes long.
func (l *Launcher) keepTurn(next *Restart, c *child) (given func()) {
	const retry = 100 * time.Millisecond
	late, done := l.after(provingAtMost), make(chan struct{})
	go func() {
		defer close(done)
		defer next.release()
		for c.holdEntry(); c.entry.Load() == nil; c.holdEntry() {
			select {
			case <-c.left:
				return
			case <-late:
				return
			case <-time.After(retry):
			}
		}
	}()
	return func() { <-done }
}

// noteUnready records why the next start could not be made ready, and decides again.
func (l *Launcher) noteUnready(ctx context.Context, over *agent.Record, cause error, signals chan os.Signal) (decision restart.Decision) {
	var record agent.Record
	write := func() (err error) {
		record, err = l.Store.Update(ctx, over.Handle, func(r *agent.Record) error {
			if err := checkCurrent(r, over.Process.Invocation); err != nil {
				return err
			}
			decision = l.decide(r, refused(cause))
			return nil
		})
		return err
	}
	if l.retryWrite(ctx, over.Handle, false, signals, func() {}, write) != nil {
		return restart.Decision{} // another command has the agent, or nothing can be written any more
	}
	_ = l.journalDecision(ctx, &record, decision)
	return decision
}

// noteAsked journals that the agent stays down. If a command holds the agent, that command journals its own action.
func (l *Launcher) noteAsked(ctx context.Context, over *agent.Record) {
	record, err := l.Store.Load(over.Handle)
	if err != nil || record.Desired == agent.DesiredStopped || l.verbStarts(over.Handle) || checkCurrent(&record, over.Process.Invocation) != nil {
		return
	}
	_ = l.journal(ctx, "down", &record, "stays down: a signal ended its launcher while the launcher waited to restart it")
}

// tell writes to the terminal what follows, while no claude uses it.
func (l *Launcher) tell(decision restart.Decision) {
	if l.Tell == nil || decision.Why == "" {
		return
	}
	words := decision.Why
	if decision.Again {
		words += "; C-c keeps it down"
	}
	saveTerminal().write(toTheEnd)
	l.Tell(words)
}

// markPane gives the launcher's pane the mark of its next start.
func (l *Launcher) markPane(ctx context.Context, id agent.Invocation) error {
	socket, _, inTmux := strings.Cut(l.Pane["TMUX"], ",")
	if !inTmux {
		return nil
	}
	client, err := tmux.New(socket)
	if err != nil {
		return err
	}
	return client.MarkAgain(ctx, l.Pane["TMUX_PANE"], id)
}
