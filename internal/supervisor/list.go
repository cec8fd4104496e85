package supervisor

import (
	"cmp"
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

	tmux func() server // waits for the answer of its server; nil with an Err
}

// List looks at all agents of the project with one call to each tmux server that
// they were started in. One damaged record does not hide the others.
func (s *Supervisor) List(ctx context.Context) ([]Row, error) {
	records, err := s.Store.Records()
	if err != nil {
		return nil, err
	}
	defer records.Close()
	handles, err := records.Handles()
	if err != nil {
		return nil, err
	}
	servers := &servers{supervisor: s, asked: map[serverKey]func() server{}}
	rows := make([]Row, len(handles))
	see := func(i int) { rows[i].see(ctx, records, handles[i], servers) }
	if len(rows) > 0 {
		see(0) // most teams have one server: it works while all else is read
	}
	reports := s.Store.Reports()
	defer reports.Close()
	registries := &registries{supervisor: s}
	defer registries.close()
	inParallel(len(rows)-1, func(i int) { see(i + 1) }) // each server is asked before any is waited for
	inParallel(len(rows), func(i int) {
		rows[i].look(ctx, s, registries)
		rows[i].gauge(reports)
	})
	servers.await()
	for i := range rows {
		rows[i].addTmux()
	}
	return rows, nil
}

// see reads the record and asks tmux.
func (row *Row) see(ctx context.Context, records store.Records, handle agent.Handle, servers *servers) {
	row.Handle = handle
	row.Status = agent.Status{State: agent.Unknown, Source: agent.FromRecord, Detail: "the record cannot be read"}
	if row.Err = records.See(handle, &row.Record); row.Err == nil {
		row.tmux = servers.ask(ctx, &row.Record)
	}
}

// look fills in what can be known while tmux has not answered yet.
func (row *Row) look(ctx context.Context, s *Supervisor, registries *registries) {
	if row.Err != nil {
		return
	}
	row.Status = s.processStatus(&row.Record, witness{check: proc.Look, entry: registries.entry}, row.tmuxAlive)
	if id := row.Status.SessionID; id != "" && id != row.Record.SessionID {
		s.followSeen(ctx, &row.Record)
	}
}

func (row *Row) tmuxAlive() (bool, error) {
	answer := row.tmux()
	return answer.has(&row.Record), cmp.Or(answer.err, answer.unreached)
}

func (row *Row) gauge(reports store.Reports) {
	if row.Err == nil {
		gauge := reports.Gauge(&row.Record)
		row.Context, row.Cost = gauge.Context(), gauge.Cost()
	}
}

func (row *Row) addTmux() {
	if row.Err != nil {
		return
	}
	answer := row.tmux()
	row.Status.TmuxAlive, row.Err = answer.has(&row.Record), answer.err
	if answer.unreached != nil && needsServer(&row.Record) {
		row.Err = answer.unreached
	}
}

// perWorker is for how many agents one worker is enough. tmux takes about as long for its
// answer as a worker to read that many, and in a small team a second one is in its way.
const perWorker = 128

// inParallel calls do for 0 to n-1, in a large team on all processors.
func inParallel(n int, do func(i int)) {
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			do(i)
		}
	}
	var others sync.WaitGroup
	for range min(n/perWorker, runtime.GOMAXPROCS(0)-1) {
		others.Go(work)
	}
	work()
	others.Wait()
}
