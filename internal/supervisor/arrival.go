package supervisor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/proc"
	"nbs-worker/internal/tmux"
)

// arrivalGrace is how long a client may take to get the session that it asks for, and a
// server to listen that came up for it.
const arrivalGrace = time.Second

// endArrival ends a start of which nobody has come forward yet. The verb may have been killed
// while its tmux client was at work, which lives on: as long as it does, a session that is
// not there may still come.
func (s *Supervisor) endArrival(ctx context.Context, r *agent.Record) error {
	if arrived(r) || r.Process.Tmux == nil {
		return nil
	}
	if err := endRequesters(ctx, r.Process.Invocation); err != nil {
		return fmt.Errorf("end the tmux client that asks for its session: %w", err)
	}
	if err := s.awaitServer(ctx, r); err != nil {
		return err
	}
	if err := s.endSession(ctx, r); err != nil {
		return &sessionLeftError{err}
	}
	return nil
}

// arrived tells whether somebody has come forward for a start: its launcher, or who adopted.
func arrived(r *agent.Record) bool {
	return r.Process.Launcher.PID != 0 || r.Process.Adopted != nil
}

// endRequesters returns when no client asks for the session of a start any more. One that does
// not come to its end is ended.
func endRequesters(ctx context.Context, id agent.Invocation) error {
	for {
		clients, _, err := requesters(id)
		if err != nil || len(clients) == 0 {
			return err
		}
		deadline := time.Now().Add(arrivalGrace)
		for _, client := range clients {
			waitGone(ctx, client, time.Until(deadline))
		}
		// One of them may have become the server meanwhile.
		left := slices.DeleteFunc(clients, func(id agent.Identity) bool { return proc.Name(id.PID) == tmuxServer })
		if err := proc.StopAll(ctx, left, leftoverGrace); err != nil {
			return err
		}
	}
}

// awaitServer waits for a server that was started for the session of a start and does not
// listen yet: until it does, a client is told that there is none, and so no session.
func (s *Supervisor) awaitServer(ctx context.Context, r *agent.Record) error {
	_, servers, err := requesters(r.Process.Invocation)
	if err != nil || len(servers) == 0 {
		return err
	}
	client, err := s.client(r)
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(arrivalGrace); time.Now().Before(deadline); {
		pid, err := client.ServerPID()
		if err == nil && pid == servers[0].PID || !alive(servers[0]) {
			return nil
		}
		waitGone(ctx, servers[0], time.Millisecond)
	}
	return nil // its socket was removed, or replaced
}

// requesters finds the clients that ask for the session of a start, and the server that came up
// for it, which keeps their command line.
func requesters(id agent.Invocation) (clients, servers []agent.Identity, err error) {
	found, err := proc.Find(string(id), func(cmdline []string) bool { return tmux.AsksForSession(cmdline, id) })
	for _, id := range found {
		if proc.Name(id.PID) == tmuxServer {
			servers = append(servers, id)
		} else {
			clients = append(clients, id)
		}
	}
	return clients, servers, err
}
