package supervisor

import (
	"context"
	"sync"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/tmux"
)

// server is what one tmux server answered, or that it did not.
type server struct {
	client *tmux.Client
	panes  []tmux.Pane
	err    error

	listening map[agent.Identity]error // by server: several may have had the one socket
}

// askAll asks the tmux servers of all agents, by socket and side by side: each may be
// one that gives no answer.
func (s *Supervisor) askAll(ctx context.Context, rows []Row) map[string]*server {
	servers := map[string]*server{}
	var all sync.WaitGroup
	for i := range rows {
		process := rows[i].Record.Process
		if rows[i].Err != nil || process == nil || process.Tmux == nil || servers[process.Tmux.Path] != nil {
			continue
		}
		asked := &server{listening: map[agent.Identity]error{}}
		servers[process.Tmux.Path] = asked
		all.Go(func() { asked.err = s.ask(ctx, process.Tmux.Path, asked) })
	}
	all.Wait()
	return servers
}

func (s *Supervisor) ask(ctx context.Context, socket string, asked *server) (err error) {
	if asked.client, err = s.Tmux(socket); err != nil {
		return err
	}
	asked.panes, err = asked.client.Panes(ctx)
	return diagnose(asked.client, err)
}

// listed judges one agent by what the servers said.
func (s *Supervisor) listed(ctx context.Context, r *agent.Record, servers map[string]*server) (agent.Status, error) {
	if r.Process == nil || r.Process.Tmux == nil {
		return s.status(r, nil), nil
	}
	asked := servers[r.Process.Tmux.Path]
	status := s.status(r, asked.panes)
	if asked.err != nil {
		return status, asked.err
	}
	// Looked at once for all agents of a server: one that lost its socket takes its time.
	id := r.Process.ServerIdentity()
	unreached, looked := asked.listening[id]
	if !looked {
		unreached = checkListening(ctx, asked.client, id, asked.panes)
		asked.listening[id] = unreached
	}
	if unreached != nil && needsServer(r) {
		return status, unreached
	}
	return status, nil
}
