package supervisor

import (
	"context"
	"sync"

	"nbs-worker/internal/agent"
)

// server is what one tmux server answered, or that it did not.
type server struct {
	panes     map[agent.Invocation]bool
	err       error
	unreached error // it lives, and it is not the one that answered
}

func (answer server) has(r *agent.Record) bool {
	return r.Process != nil && answer.panes[r.Process.Invocation]
}

// servers asks each tmux server once, and all side by side: any may be one that gives no
// answer.
type servers struct {
	supervisor *Supervisor
	mu         sync.Mutex
	asked      map[serverKey]func() server
}

// serverKey tells servers apart: two may have had one socket, one after the other, and a
// record may be of another boot.
type serverKey struct {
	agent.TmuxPlace
	agent.Identity
}

func keyOf(r *agent.Record) serverKey {
	return serverKey{TmuxPlace: *r.Process.Tmux, Identity: r.Process.ServerIdentity()}
}

// ask asks the server in which an agent was started, unless that was done, and returns what
// waits for the answer.
func (a *servers) ask(ctx context.Context, r *agent.Record) (answer func() server) {
	if r.Process == nil || r.Process.Tmux == nil {
		return known(server{})
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	answer = a.asked[keyOf(r)]
	if answer == nil {
		asked := *r // the row's own may change meanwhile
		answer = sync.OnceValue(a.supervisor.ask(ctx, &asked))
		a.asked[keyOf(r)] = answer
	}
	return answer
}

// await waits for all answers.
func (a *servers) await() {
	var others sync.WaitGroup
	waiting := 0
	for _, answer := range a.asked {
		if waiting++; waiting < len(a.asked) {
			others.Go(func() { answer() })
		} else {
			answer() // mostly the only one
		}
	}
	others.Wait()
}

// known is an answer that is not waited for.
func known(answer server) func() server { return func() server { return answer } }

func (s *Supervisor) ask(ctx context.Context, r *agent.Record) (answer func() server) {
	if serverGone(r) {
		return known(server{})
	}
	client, err := s.Tmux(r.Process.Tmux.Path)
	if err != nil {
		return known(server{err: err})
	}
	asked, err := client.AskPresent(ctx)
	if err != nil {
		return known(server{err: diagnose(client, r.Handle, err)})
	}
	return func() server {
		present, err := asked()
		if err != nil {
			return server{err: diagnose(client, r.Handle, err)}
		}
		answer := server{panes: present.Invocations}
		if present.ServerPID != r.Process.Tmux.ServerPID {
			answer.unreached = checkListening(ctx, client, r)
		}
		return answer
	}
}
