package message

import (
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/queue"
	"nbs-worker/internal/trust"
)

// What becomes of an entry is written down, whatever it is.
func TestEntryIsSettled(t *testing.T) {
	t.Parallel()
	s, err := store.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Use(trust.NewKeeper(trust.Home(t.TempDir())))
	q := s.Outbox("alpha")
	for what, c := range map[string]struct {
		word Word
		why  error
		want queue.State // "": it is gone
	}{
		"accepted":              {Accepted, nil, ""},
		"queued":                {Queued, nil, ""},
		"unknown":               {Unknown, agent.Errorf(agent.TimedOut, "no proof"), queue.Unknown},
		"a dialog":              {Held, agent.Errorf(agent.Held, "it waits for a person"), queue.Waiting},
		"one that does not run": {Held, agent.Errorf(agent.Conflict, "it does not run"), queue.Waiting},
		"what cannot be typed":  {Held, agent.Errorf(agent.BadInput, "no such command"), queue.Failed},
	} {
		added, err := q.Add(t.Context(), queue.Entry{Text: what, State: queue.Waiting})
		if err != nil {
			t.Fatal(err)
		}
		e := &entry{Entry: added, queue: q}
		if err := e.begin(t.Context(), queue.Typing{Typed: what}); err != nil {
			t.Fatal(what, err)
		}
		if left, err := next(q); err != nil || left == nil || left.State != queue.Sending || left.Typing.Typed != what {
			t.Errorf("%s, while it is typed: %+v, %v", what, left, err)
		}
		if err := e.settle(t.Context(), c.word, c.why); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		all, err := q.Entries()
		switch {
		case err != nil, c.want == "" && len(all) > 0, c.want != "" && (len(all) != 1 || all[0].State != c.want || all[0].Tries != 1 || all[0].Reason != c.why.Error()):
			t.Errorf("%s: %+v, %v; want %q", what, all, err, c.want)
		}
		if e.Pending() != (c.want == queue.Waiting) || len(all) > 0 && (all[0].Typing != nil) != (c.want == queue.Unknown) {
			t.Errorf("%s: %+v, %+v", what, e.Entry, all)
		}
		if _, err := q.Clear(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// One that was dropped while it was being delivered is in nobody's way.
func TestDroppedEntryIsSettled(t *testing.T) {
	t.Parallel()
	s, err := store.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Use(trust.NewKeeper(trust.Home(t.TempDir())))
	q := s.Outbox("alpha")
	added, err := q.Add(t.Context(), queue.Entry{Text: "x", State: queue.Waiting})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	e := &entry{Entry: added, queue: q}
	if err := e.settle(t.Context(), Held, agent.Errorf(agent.Held, "a draft")); err != nil || e.Pending() {
		t.Errorf("%+v, %v", e.Entry, err)
	}
}
