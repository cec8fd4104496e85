package launcher

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/team/restart"
)

// noteExit records how claude ended and what follows, and removes what a killed claude left. The process entry of the
// record stays: it names the start that has ended.
func (l *Launcher) noteExit(ctx context.Context, handle agent.Handle, child *child, end ending, signals chan os.Signal) (ended, error) {
	over := ended{code: end.shellCode()}
	if end.err != nil {
		return over, end.err
	}
	report := l.Store.Report(handle) // what claude reported through its hooks
	if report.Invocation != child.launch.Invocation {
		report = agent.Report{}
	}
	exit := l.exitOf(ctx, child, end, report)
	if end.status.Signaled() {
		child.terminal.reset()
	}
	follows := l.endingOf(child, &exit, report, signals)
	note := func(r *agent.Record) error {
		if err := checkCurrent(r, exit.Invocation); err != nil {
			return err
		}
		// If the record is not allowed, the process below a wrapper may be any process.
		if id, moved := child.movedTo(r, l.Store.Report(handle)); moved && !l.Store.IsNotAllowed(r) {
			r.Replace(id, exit.At, live.Moved)
		}
		if written, err := child.config.HasMessages(r.SessionID); err == nil && written {
			r.TranscriptSeen = exit.At
		}
		r.AddExit(exit)
		over.decision = l.decide(r, follows)
		return nil
	}
	var record agent.Record
	var untold error
	write := func() (err error) {
		record, untold, err = l.Store.Move(ctx, handle, exit.At, note)
		return err
	}
	if err := l.retryWrite(ctx, handle, follows.Asked, signals, func() {}, write); err != nil {
		return ended{code: over.code}, err
	}
	over.record = record
	untold = errors.Join(untold, l.journalExit(ctx, child, &over, &exit))
	if over.decision.Again {
		return over, nil // the record has the exit, and says that a next start follows
	}
	return over, untold
}

// exitOf describes how claude ended, for the record.
func (l *Launcher) exitOf(ctx context.Context, child *child, end ending, report agent.Report) agent.Exit {
	exit := agent.Exit{
		At: stamp(l.Now()), Invocation: child.launch.Invocation, Code: end.status.ExitStatus(), HungUp: end.hungUp,
		UptimeS: int64(l.Now().Sub(child.started) / time.Second), OOMKills: end.oom, EndReason: live.EndReason(report.End),
	}
	if !end.hungUp { // after a hangup there is no screen
		exit.LastScreen = l.lastScreen(ctx)
	}
	if end.status.Signaled() {
		exit.Signal = end.status.Signal().String()
	}
	return exit
}

// journalExit keeps the transcripts of a claude that has ended, removes its registry entry, and journals its exit and
// what follows.
func (l *Launcher) journalExit(ctx context.Context, child *child, over *ended, exit *agent.Exit) error {
	record := &over.record
	if err := Keep(ctx, l.Store, child.config, record); err != nil {
		_ = l.journal(ctx, "unkept", record, err.Error())
	}
	gone := record.Process.Claude()
	return errors.Join(
		child.config.Registry().Forget(gone.PID, gone.StartTicks),
		l.journal(ctx, "exit", record, exit.Summary()), l.journalDecision(ctx, record, over.decision),
	)
}

// endingOf returns what the end of a claude means for the next start.
func (l *Launcher) endingOf(c *child, exit *agent.Exit, report agent.Report, signals chan os.Signal) restart.Ending {
	seen := evidence{exit: *exit, uptime: l.Now().Sub(c.started), failure: report.Failure, limits: report.Limits, now: l.Now()}
	seen.readyAfter, seen.ready = c.readyAfter(report)
	if wrong := c.wrong.Load(); wrong != nil {
		seen.wrong = *wrong
	}
	end := seen.ending()
	end.Asked = c.asked.Load() || wasAsked(signals)
	return end
}

// noteRefusal records why claude was not started. For a start that the launcher made itself, it also records what
// follows.
func (l *Launcher) noteRefusal(ctx context.Context, handle agent.Handle, next *Restart, cause error, signals chan os.Signal) (over ended, err error) {
	id := next.Launch.Invocation
	over.code = int(fail.KindOf(cause))
	verbWaits := next.Prove == nil
	write := func() error {
		over.record, err = l.Store.Update(ctx, handle, func(r *agent.Record) error {
			if err := checkCurrent(r, id); err != nil {
				return err
			}
			r.AddExit(agent.Exit{At: stamp(l.Now()), Invocation: id, Code: over.code, Error: cause.Error()})
			if !verbWaits {
				over.decision = l.decide(r, refused(cause))
			}
			return nil
		})
		return err
	}
	if err = l.retryWrite(ctx, handle, verbWaits, signals, next.release, write); errors.Is(err, agent.ErrSuperseded) {
		return ended{}, nil // the record names another start
	}
	if err != nil {
		return ended{}, err
	}
	return over, errors.Join(l.journal(ctx, "failed", &over.record, cause.Error()), l.journalDecision(ctx, &over.record, over.decision))
}

const (
	screenLimit   = 4 << 10 // bytes
	screenTimeout = time.Second
)

// lastScreen returns what the pane shows at the end; "" without tmux.
func (l *Launcher) lastScreen(ctx context.Context) string {
	socket, _, inTmux := strings.Cut(l.Pane["TMUX"], ",")
	if !inTmux {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, screenTimeout)
	defer cancel()
	client, err := tmux.New(socket)
	if err != nil {
		return ""
	}
	screen, err := client.Screen(ctx, l.Pane["TMUX_PANE"])
	if err != nil {
		return ""
	}
	return tail(screen, screenLimit)
}

// tail returns the end of a screen in whole lines, without blank lines at either end, at most limit bytes.
func tail(screen string, limit int) string {
	screen = strings.ToValidUTF8(strings.Trim(screen, "\n \t"), "")
	if len(screen) <= limit {
		return screen
	}
	_, whole, _ := strings.Cut(screen[len(screen)-limit:], "\n")
	return whole
}
