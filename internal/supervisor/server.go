package supervisor

import (
	"context"
	"fmt"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/proc"
	"nbs-worker/internal/tmux"
)

// panes lists the panes of the tmux server in which an agent was started, or of the
// one in which it would be.
func (s *Supervisor) panes(ctx context.Context, r *agent.Record) (*tmux.Client, []tmux.Pane, error) {
	client, err := s.client(r)
	if agent.KindOf(err) == agent.Unfit && (r.Process == nil || r.Process.Tmux == nil) {
		return nil, nil, nil // an agent may run where there is no tmux
	}
	if err != nil {
		return nil, nil, err
	}
	if serverGone(r) {
		return client, nil, nil
	}
	panes, err := client.Panes(ctx)
	if err != nil {
		return client, nil, diagnose(client, r.Handle, err)
	}
	return client, panes, checkReachable(ctx, client, r)
}

// serverGone tells whether the tmux server of a start has ended. Its panes ended with
// it, and the path of its socket may be anybody's by now.
func serverGone(r *agent.Record) bool {
	return r.Process != nil && r.Process.Tmux != nil && r.Process.Tmux.ServerStartTicks != 0 && gone(r.Process.ServerIdentity())
}

func (s *Supervisor) client(r *agent.Record) (*tmux.Client, error) {
	if r.Process != nil && r.Process.Tmux != nil {
		return s.Tmux(r.Process.Tmux.Path)
	}
	return s.Tmux(s.Socket)
}

// stuckError is a tmux server that answers nobody, by the evidence of its process:
// to wait for it is in vain.
type stuckError struct{ error }

func (e *stuckError) Unwrap() error { return e.error }

// spare is how many descriptors of a server are kept free: each client has three for
// as long as it asks, and a server that runs out of them answers nobody any more.
func spare(limit int) int { return min(max(limit/8, 16), 128) }

// diagnose says of a server that gave no answer what its process shows.
func diagnose(client *tmux.Client, handle agent.Handle, err error) error {
	if err == nil || agent.KindOf(err) != agent.TimedOut {
		return err
	}
	pid, unknown := client.ServerPID()
	if unknown != nil {
		return err
	}
	files, unknown := proc.FilesOf(pid)
	elsewhere := fmt.Sprintf("or leave it as it is, and bring the agent up in another server: nbs-worker resume %s --force --tmux-socket rescue", handle)
	switch {
	case proc.Halted(pid):
		return &stuckError{agent.Errorf(agent.TimedOut, "%w: its server, pid %d, is stopped", err, pid).
			Hint("let it go on: kill -CONT %d", pid).Hint("%s", elsewhere)}
	case unknown == nil && files.Full():
		full := agent.Errorf(agent.TimedOut, "%w: its server, pid %d, has no file descriptor left (%d of %d)", err, pid, files.Open, files.Soft)
		return &stuckError{hintMore(full, pid, files).Hint("%s", elsewhere)}
	default:
		return agent.Errorf(agent.TimedOut, "%w: its server, pid %d, is busy or hangs", err, pid).
			Hint("look at it: top -p %d", pid).Hint("%s", elsewhere)
	}
}

// checkRoom refuses a server that one more session would bring near its limit of open
// files: at the limit it would take all of its agents out of reach.
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
	return hintMore(full, pid, files).Hint("or use another server: --tmux-socket NAME")
}

// hintMore names the command that raises a server's limit, while it runs; agents live
// through it. Beyond the hard limit only root could.
func hintMore(err *agent.Error, pid int, files proc.Files) *agent.Error {
	const plenty = 1 << 16
	if files.Soft >= files.Hard {
		return err
	}
	return err.Hint("give it more, its agents live through it: prlimit --pid %d --nofile=%d:%d", pid, max(files.Soft, min(files.Hard, plenty)), files.Hard)
}

// checkReachable notices an agent whose tmux server lives and is not the one that
// answers at its socket.
func checkReachable(ctx context.Context, client *tmux.Client, r *agent.Record) error {
	if !needsServer(r) {
		return nil
	}
	return checkListening(ctx, client, r)
}

// needsServer tells whether something of the agent lives in its tmux server.
func needsServer(r *agent.Record) bool {
	return r.Process != nil && r.Process.Tmux != nil && (!gone(r.Process.Identity) || !gone(r.Process.LauncherIdentity()))
}

// checkListening looks whether a server that lives is the one that has its socket:
// somebody may have removed the file, and another server have come up in its place.
func checkListening(ctx context.Context, client *tmux.Client, r *agent.Record) error {
	server := r.Process.ServerIdentity()
	listening, err := client.ServerPID()
	if err == nil && listening == server.PID {
		return nil
	}
	waitGone(ctx, server, killNotice) // one that was killed just now stopped listening first
	if !alive(server) {
		return nil
	}
	if err == nil {
		return agent.Errorf(agent.Unfit, "the agent's tmux server, pid %d, cannot be reached: another one, pid %d, has its socket %s", server.PID, listening, agent.Quote(client.Path())).
			Hint("to end the agent and start it in the other server: nbs-worker resume %s --force", r.Handle)
	}
	return agent.Errorf(agent.Unfit, "the agent's tmux server, pid %d, cannot be reached: its socket %s is gone", server.PID, agent.Quote(client.Path())).
		Hint("make it make the socket again: kill -USR1 %d", server.PID)
}

// checkTarget checks that the tmux server of a start answers in time and has room, before
// the agent is ended that is to be started there.
func (s *Supervisor) checkTarget(ctx context.Context, r *agent.Record) error {
	client, _, err := s.target(ctx, r)
	if err != nil {
		return err
	}
	if err := client.CheckPace(); err != nil {
		return diagnose(client, r.Handle, fmt.Errorf("%w, too long for an end and a start; the agent was left as it is", err))
	}
	return nil
}

// target returns the tmux server of an agent's next start and its panes.
func (s *Supervisor) target(ctx context.Context, r *agent.Record) (*tmux.Client, []tmux.Pane, error) {
	client, err := s.Tmux(s.socketFor(r.Process))
	if err != nil {
		return nil, nil, err
	}
	var panes []tmux.Pane
	if r.Process != nil { // else nothing can be left of it, and nothing is ended for it
		if panes, err = client.Panes(ctx); err != nil {
			return nil, nil, diagnose(client, r.Handle, err)
		}
	}
	return client, panes, checkRoom(client)
}

// sessionLeftError is the end of an agent of which only the tmux session could not be
// looked after.
type sessionLeftError struct{ err error }

func (e *sessionLeftError) Error() string {
	return fmt.Sprintf("nothing of the agent runs any more, but its tmux session could not be looked after: %v", e.err)
}

func (e *sessionLeftError) Unwrap() error { return e.err }

// paneOf finds the pane of a start: by its invocation, never by its name. That of an adopted
// process is the user's own.
func paneOf(panes []tmux.Pane, p *agent.Process) (tmux.Pane, bool) {
	if p == nil || p.Invocation == "" {
		return tmux.Pane{}, false
	}
	if p.Adopted != nil {
		return adoptedPane(panes, p)
	}
	for _, pane := range panes {
		if pane.Invocation == p.Invocation {
			return pane, true
		}
	}
	return tmux.Pane{}, false
}
