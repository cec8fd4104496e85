package launch

import (
	"context"

	"nbs-worker/internal/team/observe"
)

// SessionKeeper keeps the tmux session of an agent that is ended and started anew, so that whoever is
// attached to it stays attached.
type SessionKeeper struct {
	InView  bool // the agent's window is the one that is shown
	Release func()
}

// KeepSession keeps the session of an agent's pane until release. Where it cannot, whoever is
// attached is detached, as when the agent is stopped.
func (s Starter) KeepSession(ctx context.Context, sight *observe.Sight) SessionKeeper {
	held := SessionKeeper{Release: func() {}}
	if sight.Pane == nil || sight.Pane.Attached == 0 || sight.Record.Process.Adopted != nil {
		return held
	}
	client, err := s.Client(&sight.Record)
	if err != nil {
		return held
	}
	release, err := client.Hold(ctx, sight.Pane.SessionID)
	if err != nil {
		return held
	}
	return SessionKeeper{InView: sight.Pane.Active, Release: func() { _ = release(context.WithoutCancel(ctx)) }}
}
