package runbook

import (
	"context"
	"fmt"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/journal"
	"nbs-worker/internal/store/runs"
)

// Ledger is the [Log] of one plan. It records in the project's .nbs where a run stopped, and each step in the
// journal. Without a project it writes nothing: a page may create one.
type Ledger struct {
	Plan Plan
	Open func() (*store.Store, error) // Errors: NotFound if there is no project
	Now  func() time.Time
}

// store opens the project's store; it returns nil if there is no project.
func (l *Ledger) store() (*store.Store, error) {
	s, err := l.Open()
	if fail.KindOf(err) == fail.NotFound {
		return nil, nil
	}
	return s, err
}

// Begin implements [Log]. Errors: Conflict when the same plan is already being run.
func (l *Ledger) Begin() (last *runs.Run, end func(), err error) {
	s, err := l.store()
	if err != nil || s == nil {
		return nil, func() {}, err
	}
	end, err = s.LockRun(l.Plan.Key(), agent.Handle(l.Plan.Page.Name), l.Now())
	if err != nil {
		return nil, nil, err
	}
	if last, err = s.Runs().Load(l.Plan.Key()); err != nil {
		end()
		return nil, nil, err
	}
	return last, end, nil
}

// Note implements [Log].
func (l *Ledger) Note(ctx context.Context, run runs.Run) error {
	s, err := l.store()
	if err != nil || s == nil {
		return err
	}
	run.Runbook, run.At = l.Plan.Page.Name, l.Now().UTC().Truncate(time.Second)
	if err := s.Runs().Put(l.Plan.Key(), run); err != nil {
		return err
	}
	words := string(run.State)
	if run.State == runs.Failed {
		words += fmt.Sprintf(" with %d", run.Code)
	}
	return l.journal(ctx, s, fmt.Sprintf("%s, step %s: %s", run.Runbook, run.Step, words))
}

// Finish implements [Log].
func (l *Ledger) Finish(ctx context.Context, end string) error {
	s, err := l.store()
	if err != nil || s == nil {
		return err
	}
	if err := s.Runs().Drop(l.Plan.Key()); err != nil {
		return err
	}
	return l.journal(ctx, s, l.Plan.Page.Name+": "+end)
}

// journal adds an event to the journal, under an agent's handle if the page is about one agent.
func (l *Ledger) journal(ctx context.Context, s *store.Store, detail string) error {
	event := journal.Event{At: l.Now().UTC().Truncate(time.Second), Event: "runbook", Detail: detail}
	if handle, err := agent.ParseHandle(l.Plan.Values["handle"]); err == nil {
		event.Handle = handle
	}
	return s.Journal().Append(context.WithoutCancel(ctx), event)
}
