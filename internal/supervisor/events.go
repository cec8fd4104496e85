package supervisor

import (
	"context"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store"
)

// EventQuery says which events of the journal are wanted.
type EventQuery struct {
	Handle agent.Handle // "": of all agents
	Since  time.Time    // zero: from the beginning
	Follow bool         // and those to come, until the context ends
}

func (q EventQuery) wants(e store.Event) bool {
	return (q.Handle == "" || strings.EqualFold(string(q.Handle), string(e.Handle))) && !e.At.Before(q.Since)
}

// Events calls visit with each event that is wanted, in the order of the journal. note says
// that the journal was cut or replaced, and what follows is read from its beginning.
// Errors: NotFound for an agent that has neither an event nor a record, and when the .nbs
// that is followed is removed.
func (s *Supervisor) Events(ctx context.Context, q EventQuery, visit func(store.Event) error, note func(string)) error {
	tail := s.Store.TailJournal()
	defer tail.Close()
	var watch *watch
	if q.Follow {
		var err error
		if watch, err = s.watchJournal(tail.Path()); err != nil { // before the first look, so that nothing is missed in between
			return err
		}
		defer watch.close()
	}
	known := q.Handle == "" || q.Follow
	for {
		err := tail.Read(func(e store.Event) error {
			known = known || strings.EqualFold(string(q.Handle), string(e.Handle))
			if !q.wants(e) {
				return ctx.Err()
			}
			return visit(e)
		}, func() { note("the journal was cut or replaced; what follows is from its beginning") })
		if err != nil || !q.Follow {
			return s.known(known, q.Handle, err)
		}
		if s.Store.Gone() {
			return agent.Errorf(agent.NotFound, "%s was removed or moved away: no event will come", agent.Quote(s.Store.Folder())).
				Hint("where the project is now: nbs-worker events --follow --root DIR")
		}
		if err := watch.change(ctx); err != nil {
			return err
		}
	}
}

// watchJournal watches the journal, and whether its folder is taken away: of that only the
// folder above tells, for as long as somebody has it open.
func (s *Supervisor) watchJournal(path string) (*watch, error) {
	watch, err := newWatch(path)
	if err != nil {
		return nil, err
	}
	if err := watch.entry(s.Store.Folder()); err != nil {
		watch.close()
		return nil, err
	}
	return watch, nil
}

func (s *Supervisor) known(known bool, handle agent.Handle, err error) error {
	if known || err != nil {
		return err
	}
	if _, err := s.Store.Load(handle); agent.KindOf(err) == agent.NotFound {
		return agent.Errorf(agent.NotFound, "no agent and no event of the handle %s", handle).
			Hint("to see the agents: nbs-worker list")
	}
	return nil
}
