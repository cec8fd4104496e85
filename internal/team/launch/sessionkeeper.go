package launch

import (
	"context"

	"nbs-worker/internal/team/observe"
)

// SessionKeeper keeps the tmux session of an agent that is restarted, so that attached clients stay attached.
type SessionKeeper struct {
	InView  bool // the agent's window is shown
	Release func()
}

// KeepSession keeps the session of an agent's pane until release. If that fails, attached clients are detached, as on
// a stop.
func (s Starter) KeepSession(ctx context.Context, sight *observe.Sight) SessionKeeper {
	held := SessionKeeper{Release: func() {}}
	if sight.Pane == nil || sight.Pane.Attached == 0 || sight.Record.Process.Adopted != nil {
		return held
	}
	client, err := s.Project.Client(&sight.Record)
	if err != nil {
		return held
	}
	release, err := client.Hold(ctx, sight.Pane.SessionID)
	if err != nil {
		return held
	}
	return SessionKeeper{InView: sight.Pane.Active, Release: func() { _ = release(context.WithoutCancel(ctx)) }}
}
