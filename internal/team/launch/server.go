package launch

import (
	"context"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/tmux"
)

// destination is the tmux server of a start.
type destination struct {
	*tmux.Client
	panes []tmux.Pane // an earlier start may have left a pane to end
}

// CheckTarget checks that the tmux server of an agent's next start answers in time, before the agent is ended for
// that start. Errors: TimedOut.
func (s Starter) CheckTarget(ctx context.Context, r *agent.Record) error {
	_, err := s.target(ctx, r)
	return err
}

// target returns the tmux server of an agent's next start. It lists the panes only if an earlier start may have left
// a pane to end; that also proves that the server answers. Errors: TimedOut.
func (s Starter) target(ctx context.Context, r *agent.Record) (on destination, err error) {
	if on.Client, err = s.Project.Tmux(s.Project.SocketFor(r.Process)); err != nil {
		return on, err
	}
	if r.Process != nil { // if nil, it was never started, and there is no pane to end
		if on.panes, err = on.Panes(ctx); err != nil {
			return on, s.Project.Diagnose(on.Client, r.Handle, err)
		}
	}
	return on, nil
}
