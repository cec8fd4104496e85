package teardown

import (
	"context"
	"fmt"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/proc"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/team/observe"
)

// arrivalGrace is how long a start that is not wanted any more may take to arrive: its tmux client
// to get the session, and a server that came up for it to listen.
const arrivalGrace = 500 * time.Millisecond

// clientGrace is how long a tmux client may take to leave, which it does at once when signalled.
const clientGrace = 250 * time.Millisecond

// arrival is a start whose launcher has not written itself into the record yet. The verb may
// have been killed while its tmux client was at work: as long as that client runs, a session
// that is not there may still come.
type arrival struct {
	teardown

	record   *agent.Record
	tmux     *tmux.Client
	deadline time.Time
}

// arrived tells whether the record names the launcher of a start, or an adopted claude.
func arrived(r *agent.Record) bool {
	return r.Process.Launcher.PID != 0 || r.Process.Adopted != nil
}

// endArrival ends what comes of a start that has not arrived yet. Errors: [lateError].
func (t teardown) endArrival(ctx context.Context, r *agent.Record) error {
	if r.Process.Tmux == nil {
		return nil
	}
	client, err := t.Client(r)
	if err != nil {
		return &lateError{r.Process.Tmux.Path, err}
	}
	a := &arrival{teardown: t, record: r, tmux: client, deadline: time.Now().Add(arrivalGrace)}
	if err := a.endClients(ctx); err != nil {
		return fmt.Errorf("end the tmux client that asks for its session: %w", err)
	}
	if err := a.awaitServer(ctx); err != nil {
		return &lateError{r.Process.Tmux.Path, err}
	}
	if err := t.checkArrival(r); err != nil { // it may have come meanwhile
		return err
	}
	_, panes, err := t.Panes(ctx, r)
	var leader agent.Identity
	if err == nil {
		leader, err = endPane(ctx, client, panes, r)
	}
	if err != nil {
		return &lateError{r.Process.Tmux.Path, err}
	}
	// The pane's process bears no mark until tmux has made it the launcher, and would be overlooked.
	proc.WaitGone(ctx, leader, leftoverGrace)
	if proc.IsAlive(leader) && !observe.Carries(r, leader.PID) {
		return fmt.Errorf("process %d of its tmux pane is still there", leader.PID)
	}
	return nil
}

// endClients returns when no client asks for the session any more. One that does not come to
// its end in time is ended. Errors: Conflict.
func (a *arrival) endClients(ctx context.Context) error {
	for {
		clients, _, err := a.requesters()
		if err != nil || len(clients) == 0 {
			return err
		}
		for _, client := range clients {
			proc.WaitGone(ctx, client, time.Until(a.deadline))
		}
		if clients, _, err = a.requesters(); err != nil { // one of them may have become the server
			return err
		}
		if err := proc.StopAll(ctx, clients, clientGrace); err != nil {
			return err
		}
	}
}

// awaitServer waits for a server that came up for the session and does not listen yet: until
// it does, clients find no server, and so no session. Errors: TimedOut.
func (a *arrival) awaitServer(ctx context.Context) error {
	_, servers, err := a.requesters()
	if err != nil {
		return err
	}
	for {
		servers = slices.DeleteFunc(servers, func(id agent.Identity) bool { return !proc.IsAlive(id) })
		if len(servers) == 0 || a.listening() != 0 {
			return nil
		}
		if !time.Now().Before(a.deadline) {
			pid := servers[0].PID
			return fail.Errorf(fail.TimedOut, "the tmux server that came up for it, pid %d, does not listen", pid).
				Hint("give it time and repeat the command; or make it make its socket again: kill -USR1 %d", pid)
		}
		proc.WaitGone(ctx, servers[0], time.Millisecond)
	}
}

// requesters finds the tmux clients that ask for the session, and the servers that came up for
// it, or their forks, which keep the client's command line. A client runs in the project for
// this very start, and is certainly no server: a server may hold other agents. Errors: Conflict,
// for a client of the agent from which the record was copied.
func (a *arrival) requesters() (clients, servers []agent.Identity, err error) {
	start := a.record.Process.Invocation
	found, err := proc.Find(string(start), func(cmdline []string) bool { return tmux.AsksForSession(cmdline, start) })
	if err != nil {
		return nil, nil, err
	}
	listening := a.listening()
	for _, id := range found {
		if id.PID == listening || proc.LeadsSession(id.PID) || proc.Name(id.PID) == observe.TmuxServerName {
			servers = append(servers, id)
			continue
		}
		cwd, err := proc.Cwd(id.PID)
		switch {
		case err != nil:
		case a.IsOriginal(cwd, a.record.Handle):
			return nil, nil, a.errCopied(a.record, id.PID)
		case observe.SameFolder(cwd, a.Store.Project()):
			clients = append(clients, id)
		}
	}
	return clients, servers, nil
}

// listening is the pid of the server that listens; 0 when none does.
func (a *arrival) listening() int {
	pid, err := a.tmux.ServerPID()
	if err != nil {
		return 0
	}
	return pid
}

// lateError means that nothing of an agent is left, except perhaps a start that is still on its way.
type lateError struct {
	server string // path of its socket
	err    error
}

func (e *lateError) Error() string {
	return fmt.Sprintf("its start may still come up in the tmux server %s: %v", human.Quote(e.server), e.err)
}

func (e *lateError) Unwrap() error { return e.err }
