package launch

import (
	"context"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/observe/health"
	"nbs-worker/internal/proc"
	"nbs-worker/internal/tmux"
)

// spare is how many descriptors of a tmux server are kept free: each client uses three
// while it is connected, and a server that runs out of them answers nobody.
func spare(limit int) int { return min(max(limit/8, 16), 128) }

// checkRoom refuses a server that one more session would bring near its limit of open
// files: at the limit none of its agents can be reached.
func checkRoom(client *tmux.Client) error {
	pid, err := client.ServerPID()
	if err != nil {
		return nil //nolint:nilerr // none runs yet: it will have room
	}
	files, err := proc.FilesOf(pid)
	if err != nil || files.Open+spare(files.Soft) < files.Soft {
		return nil //nolint:nilerr // another user's server, perhaps; tmux itself decides
	}
	full := agent.Errorf(agent.Unfit, "the tmux server, pid %d, has %d of %d file descriptors in use: with more sessions it would answer nobody", pid, files.Open, files.Soft)
	return health.HintMoreFiles(full, pid, files).Hint("or use another server: --tmux-socket NAME")
}

// CheckTarget checks that the tmux server of an agent's next start answers in time and has
// room, before the agent is ended for that start. Errors: TimedOut, Unfit.
func (s Starter) CheckTarget(ctx context.Context, r *agent.Record) error {
	_, _, err := s.target(ctx, r)
	return err
}

// target returns the tmux server of an agent's next start, which has room, and its panes. They are
// listed, which proves that the server answers, only where an earlier start may have left something
// to end. Errors: TimedOut, Unfit.
func (s Starter) target(ctx context.Context, r *agent.Record) (*tmux.Client, []tmux.Pane, error) {
	client, err := s.Tmux(s.SocketFor(r.Process))
	if err != nil {
		return nil, nil, err
	}
	var panes []tmux.Pane
	if r.Process != nil { // else it was never started, and there is nothing to end
		if panes, err = client.Panes(ctx); err != nil {
			return nil, nil, health.Diagnose(client, r.Handle, err)
		}
	}
	return client, panes, checkRoom(client)
}
