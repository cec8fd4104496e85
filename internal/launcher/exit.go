package launcher

import (
	"context"
	"errors"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/proc"
	"nbs-worker/internal/tmux"
)

// noteExit writes down how claude ended, and tidies what a killed one left. The
// record's own process entry stays: it says which start this was the end of.
func (l *Launcher) noteExit(ctx context.Context, handle agent.Handle, child *child, end ending) (agent.Record, error) {
	if end.err != nil {
		return agent.Record{}, end.err
	}
	exit := agent.Exit{
		At: stamp(l.Now()), Invocation: child.launch.Invocation, Code: end.status.ExitStatus(), HungUp: end.hungUp,
		UptimeS: int64(l.Now().Sub(child.started) / time.Second), OOMKills: end.oom,
	}
	if report := l.Store.Report(handle); report.Invocation == exit.Invocation {
		exit.EndReason = live.EndReason(report.End) // what claude, before it left, said through its hooks
	}
	if !end.hungUp { // else there is no screen any more
		exit.LastScreen = l.lastScreen(ctx)
	}
	if end.status.Signaled() {
		exit.Signal = end.status.Signal().String()
		child.terminal.reset()
	}
	record, untold, err := l.Store.Move(ctx, handle, exit.At, func(r *agent.Record) error {
		if err := checkCurrent(r, exit.Invocation); err != nil {
			return err
		}
		// Of a record that is not allowed, what runs below a wrapper may be anybody's.
		if id, moved := child.movedTo(r, l.Store.Report(handle)); moved && !l.Store.IsNotAllowed(r) {
			r.Replace(id, exit.At, live.Moved)
		}
		if written, err := child.config.HasMessages(r.SessionID); err == nil && written {
			r.TranscriptSeen = exit.At
		}
		r.AddExit(exit)
		return nil
	})
	if err != nil {
		return record, err
	}
	if err := Keep(ctx, l.Store, child.config, &record); err != nil {
		_ = l.journal(ctx, "unkept", &record, err.Error())
	}
	ended := record.Process.Claude()
	return record, errors.Join(untold, child.config.Registry().Forget(ended.PID, ended.StartTicks), l.journal(ctx, "exit", &record, exit.Summary()))
}

// noteRefusal writes down why claude was not started.
func (l *Launcher) noteRefusal(ctx context.Context, handle agent.Handle, id agent.Invocation, cause error) error {
	record, err := l.Store.Update(ctx, handle, func(r *agent.Record) error {
		if err := checkCurrent(r, id); err != nil {
			return err
		}
		r.AddExit(agent.Exit{At: stamp(l.Now()), Invocation: id, Code: int(agent.KindOf(cause)), Error: cause.Error()})
		return nil
	})
	if errors.Is(err, agent.ErrSuperseded) {
		return nil // the record tells of another start
	}
	if err != nil {
		return err
	}
	return l.journal(ctx, "failed", &record, cause.Error())
}

const (
	screenLimit   = 4 << 10 // bytes
	screenTimeout = time.Second
)

// lastScreen is what the pane shows at the end; "" where there is no tmux.
func (l *Launcher) lastScreen(ctx context.Context) string {
	socket, _, inTmux := strings.Cut(l.Pane["TMUX"], ",")
	if !inTmux {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, screenTimeout)
	defer cancel()
	client, err := tmux.New(socket)
	if err != nil || stuck(client) {
		return ""
	}
	screen, err := client.Screen(ctx, l.Pane["TMUX_PANE"])
	if err != nil {
		return ""
	}
	return tail(screen, screenLimit)
}

// stuck tells, without waiting for it, of a server that answers nobody: who ends the agent
// waits for its launcher.
func stuck(client *tmux.Client) bool {
	server, err := client.ServerPID()
	if err != nil {
		return false
	}
	files, err := proc.FilesOf(server)
	return proc.Halted(server) || err == nil && files.Full()
}

// tail returns the end of a screen: whole lines, without blank ones at either end,
// at most limit bytes.
func tail(screen string, limit int) string {
	screen = strings.ToValidUTF8(strings.Trim(screen, "\n \t"), "")
	if len(screen) <= limit {
		return screen
	}
	_, whole, _ := strings.Cut(screen[len(screen)-limit:], "\n")
	return whole
}
