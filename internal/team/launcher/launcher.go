// Package launcher is the small process that leads an agent's pane. [Launcher.Run] is its loop: start claude on the
// pane's own terminal, wait for it, record how it ended, and decide by the agent's restart policy what follows.
//
// It exists for three reasons. tmux 3.3a loses exit statuses. The lease on a conversation must be held by a process
// that lives exactly as long as claude. And a process that restarts claude must notice its exit without polling.
//
// Its rules:
//
//   - The conversation is held from before claude exists until its exit is recorded. No lock descriptor stays open
//     across exec (holding.go).
//   - Only what an allowed record names is started. The seal is checked under the record's lock, when the launcher
//     writes itself into the record (start.go).
//   - Claude runs on the launcher's terminal and in its process group. The launcher never reads the terminal, and
//     sleeps in wait(2) (child.go).
//   - A request to leave is forwarded to claude at once, even while the launcher waits for another thing. No signal
//     ends the launcher before it has recorded the exit (signals.go).
//   - Every start ends in the record, as an exit or as a refusal. A start that a later one has superseded leaves no
//     trace (exit.go).
//   - The agent's restart policy ([restart.Decide]) decides what follows an end, and that is recorded together with
//     the end. While the launcher waits for the next start, it holds nothing and no claude runs: a command, a signal
//     or a person's C-c ends the wait at once (restart.go).
//   - A start that the launcher makes itself is like any other: it has its own invocation, follows the rules of a
//     verb's start under the agent's verb lock, and is proved.
//
// The package imports store, claude, tmux, machine and observe. Supervisor, doctor and cli import it, and it must not
// import them.
package launcher

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/journal"
	"nbs-worker/internal/team/restart"
)

// Launcher leads one agent.
type Launcher struct {
	Store   *store.Store
	Machine *machine.Machine
	// Pane is the environment of the terminal in which the launcher runs.
	Pane    map[string]string
	Program string // path of nbs-worker, to which claude reports; "" for the one on the PATH
	Version string // of this nbs-worker
	Now     func() time.Time

	Restarts Restarter         // nil: the launcher leaves with its claude
	Tell     func(what string) // writes to the terminal while no claude uses it
	GiveBack func()            // ends the turn of the first start; nil: a verb has the turn

	testOnlyAfter func(time.Duration) <-chan time.Time // nil: [time.After]
}

// Run starts claude for the handle from the launch file of the invocation, and starts it again while the agent's
// restart policy says so. It returns claude's last exit code, or 128 plus the number of the signal. An error means
// that claude was not started, which is recorded as an exit too, or that its exit could not be recorded.
func (l *Launcher) Run(ctx context.Context, handle agent.Handle, id agent.Invocation) (code int, err error) {
	launch, err := l.Store.TakeLaunch(handle, id)
	if err != nil {
		return 0, err
	}
	signals := make(chan os.Signal, 16)
	defer signal.Stop(signals)
	next := &Restart{Launch: launch, Release: l.GiveBack}
	for next != nil {
		var end ended
		if end, err = l.runOnce(ctx, handle, next, signals); err != nil {
			return end.code, err
		}
		code, next = end.code, l.again(ctx, &end, next.Launch, signals)
	}
	return code, nil
}

// ended is a start that is over.
type ended struct {
	record   agent.Record
	code     int // claude's, or that of the error that prevented the start
	decision restart.Decision
}

// runOnce starts claude, waits for it, and records its exit or why it was not started.
func (l *Launcher) runOnce(ctx context.Context, handle agent.Handle, next *Restart, signals chan os.Signal) (ended, error) {
	child, release, err := l.start(ctx, handle, next, signals)
	if err != nil {
		defer next.release()
		end, untold := l.noteRefusal(ctx, handle, next, err, signals)
		if end.decision.Again {
			return end, nil
		}
		if untold != nil && strings.Contains(err.Error(), untold.Error()) {
			untold = nil // the same lock prevented both the start and this record
		}
		return end, errors.Join(err, untold)
	}
	defer release()
	proven := l.prove(ctx, next, child)
	debug.FreeOSMemory() // a long sleep follows
	exit := child.wait()
	end, err := l.noteExit(ctx, handle, child, exit, signals)
	proven()
	return end, err
}

func (l *Launcher) journal(ctx context.Context, event string, record *agent.Record, detail string) error {
	return l.Store.Journal().Append(ctx, journal.EventOf(record, stamp(l.Now()), event, detail))
}

// stamp returns a time in the form in which times are recorded.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }
