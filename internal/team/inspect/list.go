package inspect

import (
	"context"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/observe"
)

// Row is one agent in a list. Its Err is why something about it is unknown; if the record could be read, only the
// tmux session is.
type Row struct {
	Handle agent.Handle
	observe.Sight

	// From the status line: a list of a thousand agents reads no transcript.
	Context *agent.ContextUse
	Cost    *agent.Cost

	Usage *machine.Usage // nil: not asked for, or the agent does not run
	Tree  *Tree          // nil: not asked for, or no worktree was made for it
}

// List looks at all agents of the project, with one call to each tmux server in which they were started. One damaged
// record does not hide the others. An agent that is dismissed during the look has no row.
func (i *Inspector) List(ctx context.Context) ([]Row, error) {
	records, err := i.Project.Store.Records()
	if err != nil {
		return nil, err
	}
	return i.rows(ctx, records), nil
}

// ListSome looks at some agents, as [Inspector.List] does at all. An agent that does not exist has no row.
func (i *Inspector) ListSome(ctx context.Context, handles []agent.Handle) []Row {
	records := make([]store.Loaded, len(handles))
	for n, handle := range handles {
		records[n].Handle = handle
		records[n].Record, records[n].Err = i.Project.Store.Load(handle)
	}
	return i.rows(ctx, records)
}

func (i *Inspector) rows(ctx context.Context, records []store.Loaded) []Row {
	rows := make([]Row, len(records))
	looked := make([]agent.Record, 0, len(rows))
	for n, one := range records {
		rows[n].Handle, rows[n].Record, rows[n].Err = one.Handle, one.Record, one.Err
		if one.Err == nil {
			looked = append(looked, rows[n].Record)
		} else {
			rows[n].Status = agent.Status{State: agent.Unknown, Source: agent.FromRecord, Detail: "the record cannot be read"}
		}
	}
	sights := i.Project.Look(ctx, looked)
	for n := range rows {
		if rows[n].Err == nil {
			rows[n].Sight, sights = sights[0], sights[1:]
			gauge := rows[n].Record.GaugeOf(rows[n].Report)
			rows[n].Context, rows[n].Cost = gauge.Context(), gauge.Cost()
		}
	}
	return withoutDismissed(rows)
}

// Measure adds what the processes of running agents use of the machine. It takes up to a millisecond for each agent.
func (i *Inspector) Measure(rows []Row) {
	for n := range rows {
		if rows[n].Status.SamePID {
			usage := i.Project.Machine.UsageOf(rows[n].Record.Process.PID)
			rows[n].Usage = &usage
		}
	}
}

func withoutDismissed(rows []Row) []Row {
	there := rows[:0]
	for _, row := range rows {
		if row.Err == nil || fail.KindOf(row.Err) != fail.NotFound {
			there = append(there, row)
		}
	}
	return there
}
