package launch

import (
	"context"

	"nbs-worker/internal/team/observe"
)

// Seat keeps the tmux session of an agent that is ended and started anew, so that whoever is
// attached to it stays attached.
type Seat struct {
	InView  bool // the agent's window is the one that is shown
	Release func()
}

// HoldSeat keeps the session of an agent's pane until release. Where it cannot, whoever is
// attached is detached, as when the agent is stopped.
func (s Starter) HoldSeat(ctx context.Context, sight *observe.Sight) Seat {
	held := Seat{Release: func() {}}
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
	return Seat{InView: sight.Pane.Active, Release: func() { _ = release(context.WithoutCancel(ctx)) }}
}
