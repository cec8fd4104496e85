package launch

import (
	"context"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/team/observe/health"
)

// spare returns how many descriptors of a tmux server are kept free. Each connected client uses three, and a server
// without free descriptors does not answer.
func spare(limit int) int { return min(max(limit/8, 16), 128) }

// destination is the tmux server of a start.
type destination struct {
	*tmux.Client
	panes []tmux.Pane // an earlier start may have left a pane to end
	pid   int         // of the listening server; 0: this start brings it up
}

// checkRoom returns an error if one more session would bring the server with this pid near its limit of open files:
// at the limit its agents cannot be reached.
func checkRoom(m *machine.Machine, pid int) error {
	files, err := m.FilesOf(pid)
	if err != nil || files.Open+spare(files.Soft) < files.Soft {
		return nil //nolint:nilerr // another user's server, perhaps; tmux itself decides
	}
	full := fail.Errorf(fail.Unfit, "the tmux server, pid %d, has %d of %d file descriptors in use: with more sessions it would stop answering", pid, files.Open, files.Soft)
	return health.HintMoreFiles(full, pid, files).Hint("or use another server: --tmux-socket NAME")
}

// CheckTarget checks that the tmux server of an agent's next start answers in time and has room, before the agent is
// ended for that start. Errors: TimedOut; Unfit.
func (s Starter) CheckTarget(ctx context.Context, r *agent.Record) error {
	_, err := s.target(ctx, r)
	return err
}

// target returns the tmux server of an agent's next start, after checking that it has room. It lists the panes only
// if an earlier start may have left a pane to end; that also proves that the server answers. Errors: TimedOut; Unfit.
func (s Starter) target(ctx context.Context, r *agent.Record) (on destination, err error) {
	if on.Client, err = s.Project.Tmux(s.Project.SocketFor(r.Process)); err != nil {
		return on, err
	}
	if r.Process != nil { // if nil, it was never started, and there is no pane to end
		if on.panes, err = on.Panes(ctx); err != nil {
			return on, health.Diagnose(s.Project.Machine, on.Client, r.Handle, err)
		}
	}
	if on.pid, err = on.ServerPID(); err != nil {
		return on, nil //nolint:nilerr // the one that will come up has room
	}
	return on, checkRoom(s.Project.Machine, on.pid)
}
