package launch

import (
	"context"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/proc"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/team/observe/health"
)

// spare is how many descriptors of a tmux server are kept free: each client uses three
// while it is connected, and a server that runs out of them answers nobody.
func spare(limit int) int { return min(max(limit/8, 16), 128) }

// destination is the tmux server of a start.
type destination struct {
	*tmux.Client
	panes []tmux.Pane // where an earlier start may have left something to end
	pid   int         // of the server that listens; 0: the start brings it up
}

// checkRoom refuses a server, by its pid, that one more session would bring near its limit of open
// files: at the limit none of its agents can be reached.
func checkRoom(pid int) error {
	files, err := proc.FilesOf(pid)
	if err != nil || files.Open+spare(files.Soft) < files.Soft {
		return nil //nolint:nilerr // another user's server, perhaps; tmux itself decides
	}
	full := fail.Errorf(fail.Unfit, "the tmux server, pid %d, has %d of %d file descriptors in use: with more sessions it would answer nobody", pid, files.Open, files.Soft)
	return health.HintMoreFiles(full, pid, files).Hint("or use another server: --tmux-socket NAME")
}

// CheckTarget checks that the tmux server of an agent's next start answers in time and has
// room, before the agent is ended for that start. Errors: TimedOut, Unfit.
func (s Starter) CheckTarget(ctx context.Context, r *agent.Record) error {
	_, err := s.target(ctx, r)
	return err
}

// target returns the tmux server of an agent's next start, which has room. Its panes are listed, which
// proves that it answers, only where an earlier start may have left something to end.
// Errors: TimedOut, Unfit.
func (s Starter) target(ctx context.Context, r *agent.Record) (on destination, err error) {
	if on.Client, err = s.Tmux(s.SocketFor(r.Process)); err != nil {
		return on, err
	}
	if r.Process != nil { // else it was never started, and there is nothing to end
		if on.panes, err = on.Panes(ctx); err != nil {
			return on, health.Diagnose(on.Client, r.Handle, err)
		}
	}
	if on.pid, err = on.ServerPID(); err != nil {
		return on, nil //nolint:nilerr // the one that will come up has room
	}
	return on, checkRoom(on.pid)
}
