package history

import (
	"context"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/fswatch"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/journal"
)

// EventQuery says which events of the journal are wanted.
type EventQuery struct {
	Handles []agent.Handle // empty: of all agents
	Since   time.Time      // in whole seconds, like the times of events; zero: from the beginning
	Last    int            // the number of events, counted from the end; 0: all
	Follow  bool           // also new events, until the context ends
}

func (q EventQuery) wants(e journal.Event) bool {
	return (len(q.Handles) == 0 || slices.ContainsFunc(q.Handles, e.Handle.Same)) && !e.At.Before(q.Since)
}

// Events calls visit with each wanted event, in the order of the journal. It calls note when the journal was cut or
// replaced, and then reads it from its beginning. Errors: NotFound for an agent without events and without a record,
// or, with Follow, when .nbs is removed.
func Events(ctx context.Context, s *store.Store, q EventQuery, visit func(journal.Event) error, note func(string)) error {
	tail := s.Journal().Tail()
	defer tail.Close()
	var changes *fswatch.Watch
	if q.Follow {
		var err error
		if changes, err = watchJournal(s, tail.Path()); err != nil { // before the first look, so that no event is missed in between
			return err
		}
		defer changes.Close()
	}
	began := func() { note("the journal was cut or replaced; what follows is from its beginning") }
	known := map[string]bool{}
	var last []journal.Event
	for past := q.Last > 0; ; past = false { // which events are the last ones is known at the end
		err := tail.Read(func(e journal.Event) error {
			known[e.Handle.Key()] = true
			switch {
			case !q.wants(e):
				return ctx.Err()
			case !past:
				return visit(e)
			}
			if last = append(last, e); len(last) > 2*q.Last {
				last = slices.Delete(last, 0, q.Last)
			}
			return ctx.Err()
		}, began)
		for _, e := range last[max(0, len(last)-q.Last):] {
			if err == nil {
				err = visit(e)
			}
		}
		if err != nil {
			return err
		}
		if last = nil; !q.Follow {
			return checkKnown(s, q.Handles, known)
		}
		if s.Gone() {
			return fail.Errorf(fail.NotFound, "%s was removed or moved: no more events will come", human.Quote(s.Folder())).
				Hint("if it was moved: nbs-worker events --follow --root DIR")
		}
		if err := changes.Change(ctx); err != nil {
			return err
		}
	}
}

// watchJournal watches the journal, and whether its folder is removed: while a process has that folder open, only the
// folder above shows the removal.
func watchJournal(s *store.Store, path string) (*fswatch.Watch, error) {
	changes, err := fswatch.New()
	if err != nil {
		return nil, err
	}
	if err = changes.File(path); err == nil {
		err = changes.Entry(s.Folder())
	}
	if err != nil {
		changes.Close()
		return nil, err
	}
	return changes, nil
}

// checkKnown refuses a handle that is neither in the journal nor in a record.
func checkKnown(s *store.Store, handles []agent.Handle, known map[string]bool) error {
	for _, handle := range handles {
		if known[handle.Key()] {
			continue
		}
		if _, err := s.Load(handle); fail.KindOf(err) == fail.NotFound {
			return fail.Errorf(fail.NotFound, "no agent and no event has the handle %s", handle).
				Hint("to see the agents: nbs-worker list")
		}
	}
	return nil
}
