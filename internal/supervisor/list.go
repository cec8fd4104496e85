package supervisor

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/proc"
	"nbs-worker/internal/store"
)

// Row is one agent in a list. Err says what could not be known of it: with a record
// that could be read, all but its tmux session.
type Row struct {
	Handle agent.Handle
	Record agent.Record
	Status agent.Status

	// What the status line said: a list of a thousand agents reads no transcript.
	Context *agent.ContextUse
	Cost    *agent.Cost

	Err error
}

// List looks at all agents of the project with one call to each tmux server that
// they were started in. One damaged record does not hide the others.
func (s *Supervisor) List(ctx context.Context) ([]Row, error) {
	handles, err := s.Store.Handles()
	if err != nil {
		return nil, err
	}
	records, err := s.Store.Records()
	if err != nil {
		return nil, err
	}
	defer records.Close()
	reports := s.Store.Reports()
	defer reports.Close()
	servers := &servers{supervisor: s, asked: map[serverKey]func() server{}}
	rows := make([]Row, len(handles))
	inParallel(len(rows), func(i int) { rows[i].look(ctx, s, records, handles[i], servers); rows[i].gauge(reports) })
	for i := range rows {
		rows[i].addTmux(ctx, servers)
	}
	return rows, nil
}

// look fills in all that can be known without an answer of tmux, which is on its way.
func (row *Row) look(ctx context.Context, s *Supervisor, records store.Records, handle agent.Handle, servers *servers) {
	row.Handle = handle
	row.Status = agent.Status{State: agent.Unknown, Source: agent.FromRecord, Detail: "the record cannot be read"}
	if row.Record, row.Err = records.See(handle); row.Err != nil {
		return
	}
	answer := servers.ask(ctx, &row.Record)
	row.Status = s.processStatus(&row.Record, proc.Look, func() bool { return answer().has(&row.Record) })
	if id := row.Status.SessionID; id != "" && id != row.Record.SessionID {
		s.followSeen(ctx, &row.Record)
	}
}

func (row *Row) gauge(reports store.Reports) {
	if row.Err == nil {
		gauge := reports.Gauge(&row.Record)
		row.Context, row.Cost = gauge.Context(), gauge.Cost()
	}
}

func (row *Row) addTmux(ctx context.Context, servers *servers) {
	if row.Err != nil {
		return
	}
	answer := servers.ask(ctx, &row.Record)()
	row.Status.TmuxAlive, row.Err = answer.has(&row.Record), answer.err
	if answer.unreached != nil && needsServer(&row.Record) {
		row.Err = answer.unreached
	}
}

// server is what one tmux server answered, or that it did not.
type server struct {
	panes     map[agent.Invocation]bool
	err       error
	unreached error // it lives, and it is not the one that answered
}

func (answer server) has(r *agent.Record) bool {
	return r.Process != nil && answer.panes[r.Process.Invocation]
}

// servers asks each tmux server once, in the background and side by side: any may be one
// that gives no answer.
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

// ask returns what waits for the answer of the server in which an agent was started.
func (a *servers) ask(ctx context.Context, r *agent.Record) func() server {
	if r.Process == nil || r.Process.Tmux == nil {
		return func() server { return server{} }
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if answer, known := a.asked[keyOf(r)]; known {
		return answer
	}
	asked := *r // the row's own may change meanwhile
	answer := sync.OnceValue(func() server { return a.supervisor.ask(ctx, &asked) })
	a.asked[keyOf(r)] = answer
	go answer()
	runtime.Gosched() // now, and not when the records are read: tmux works meanwhile
	return answer
}

func (s *Supervisor) ask(ctx context.Context, r *agent.Record) server {
	if serverGone(r) {
		return server{}
	}
	client, err := s.Tmux(r.Process.Tmux.Path)
	if err != nil {
		return server{err: err}
	}
	panes, err := client.Invocations(ctx)
	if err != nil {
		return server{err: diagnose(client, r.Handle, err)}
	}
	return server{panes: panes, unreached: checkListening(ctx, client, r)}
}

// inParallel calls do for 0 to n-1, on all processors.
func inParallel(n int, do func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	all.Wait()
}
