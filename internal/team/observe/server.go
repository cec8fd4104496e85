package observe

import (
	"context"
	"fmt"
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/tmux"
)

// Client returns the client of the tmux server in which an agent was started, or of the one in which it would be
// started.
func (o *Project) Client(r *agent.Record) (*tmux.Client, error) {
	if r.Process != nil && r.Process.Tmux != nil {
		return o.Tmux(r.Process.Tmux.Path)
	}
	return o.Tmux(o.Socket)
}

// Panes lists the panes of that server, at least those that may be the agent's. With an [UnreachedError] they are
// the panes of the server that answered in its place.
func (o *Project) Panes(ctx context.Context, r *agent.Record) (*tmux.Client, []tmux.Pane, error) {
	client, wait := o.askPanes(ctx, r, "")
	listing, err := wait()
	return client, listing.Panes, err
}

// askPanes starts the call of [tmux.Client.AskPanes], and returns a function that waits for the answer.
func (o *Project) askPanes(ctx context.Context, r *agent.Record, session string) (client *tmux.Client, wait func() (tmux.Listing, error)) {
	unasked := func(err error) func() (tmux.Listing, error) {
		return func() (tmux.Listing, error) { return tmux.Listing{}, err }
	}
	client, err := o.Client(r)
	switch {
	case fail.KindOf(err) == fail.Unfit && (r.Process == nil || r.Process.Tmux == nil):
		return nil, unasked(nil) // an agent may run where there is no tmux
	case err != nil:
		return nil, unasked(err)
	case o.serverGone(r):
		return client, unasked(nil)
	}
	answer := client.AskPanes(ctx, session)
	return client, func() (tmux.Listing, error) {
		listing, err := answer()
		if err != nil {
			return tmux.Listing{}, o.Diagnose(client, r.Handle, err)
		}
		if _, there := o.PaneOf(listing.Panes, r.Process); there {
			return listing, nil // no need to wake the server by another connection
		}
		return listing, o.checkListening(ctx, client, r)
	}
}

// Diagnose adds what the server's process shows to the error of a tmux server that gave no answer.
func (o *Project) Diagnose(server interface{ ServerPID() (int, error) }, handle agent.Handle, err error) error {
	if err == nil || fail.KindOf(err) != fail.TimedOut {
		return err
	}
	pid, unknown := server.ServerPID()
	if unknown != nil {
		return err
	}
	state, remedy := "is busy or hangs", fmt.Sprintf("look at it: top -p %d", pid)
	if o.Machine.Halted(pid) {
		state, remedy = "is stopped", fmt.Sprintf("let it go on: kill -CONT %d", pid)
	}
	return fail.Errorf(fail.TimedOut, "%w: its server, pid %d, %s", err, pid, state).
		Hint("%s", remedy).
		Hint("or start the agent in another server: nbs-worker resume %s --force --tmux-socket rescue", handle)
}

// serverGone reports whether the tmux server of a start has ended. Its panes ended with it, and another server may
// have the path of its socket now.
func (o *Project) serverGone(r *agent.Record) bool {
	return r.Process != nil && r.Process.Tmux != nil && r.Process.Tmux.ServerStartTicks != 0 && o.Machine.IsGone(r.Process.ServerIdentity())
}

// UnreachedError is the error for a tmux server that runs, but is not the one that answers at its socket.
type UnreachedError struct{ error }

func (e *UnreachedError) Unwrap() error { return e.error }

// checkListening checks that a running server is the one that has its socket: the file may have been removed, and
// another server may have started in its place. For an agent that does not run this does not matter.
func (o *Project) checkListening(ctx context.Context, client *tmux.Client, r *agent.Record) error {
	if !o.needsServer(r) {
		return nil
	}
	server := r.Process.ServerIdentity()
	listening, err := client.ServerPID()
	if err == nil && listening == server.PID {
		return nil
	}
	o.Machine.WaitGone(ctx, server, KillNotice) // a server that was just killed stops listening first
	if !o.Machine.IsAlive(server) {
		return nil
	}
	unreached := fail.Errorf(fail.Unfit, "the agent's tmux server, pid %d, cannot be reached: its socket %s is gone", server.PID, human.Quote(client.Path())).
		Hint("to let it create the socket again: kill -USR1 %d", server.PID)
	if err == nil {
		unreached = fail.Errorf(fail.Unfit, "the agent's tmux server, pid %d, cannot be reached: another server, pid %d, has taken its socket %s", server.PID, listening, human.Quote(client.Path())).
			Hint("to end the agent and start it in the other server: nbs-worker resume %s --force", r.Handle)
	}
	return &UnreachedError{unreached}
}

// needsServer reports whether a process of the agent runs in its tmux server.
func (o *Project) needsServer(r *agent.Record) bool {
	return r.Process != nil && r.Process.Tmux != nil && (!o.Machine.IsGone(r.Process.Identity) || !o.Machine.IsGone(r.Process.LauncherIdentity()))
}

// PaneOf finds the pane of a start by its mark and by the launcher that leads it, never by a name. If a pane with
// the mark has another leader, a person has taken it over. The pane of an adopted process is the user's own.
func (o *Project) PaneOf(panes []tmux.Pane, p *agent.Process) (tmux.Pane, bool) {
	if p == nil || p.Invocation == "" {
		return tmux.Pane{}, false
	}
	if p.Adopted != nil {
		return o.adoptedPane(panes, p)
	}
	for i := range panes {
		if pane := &panes[i]; pane.Invocation == p.Invocation && o.Lineage().Leads(p, pane) {
			return *pane, true
		}
	}
	return tmux.Pane{}, false
}

// adoptedPane returns the user's pane in which an adopted claude runs, while it runs.
func (o *Project) adoptedPane(panes []tmux.Pane, p *agent.Process) (tmux.Pane, bool) {
	if p.Adopted.Pane == "" || p.Tmux == nil || !o.Machine.IsAlive(p.Identity) {
		return tmux.Pane{}, false
	}
	chain := o.Machine.AncestorsOf(p.PID)
	for _, pane := range panes {
		if pane.ID == p.Adopted.Pane && slices.Contains(chain, pane.PID) {
			return pane, true
		}
	}
	return tmux.Pane{}, false
}
