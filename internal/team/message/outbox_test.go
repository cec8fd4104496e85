package message

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/moves"
	"nbs-worker/internal/store/queue"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/supervisor"

	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
)

// newSender is that of a project with the agent alpha.
func newSender(t *testing.T) *Sender {
	t.Helper()
	opened, err := store.Create(t.TempDir())
	rig.Must(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	opened.Use(trust.NewKeeper(trust.Home(t.TempDir())))
	unlock, err := opened.LockVerb("alpha", "spawn", storetest.SomeTime()) // which makes the folders
	rig.Must(t, err)
	unlock()
	rig.Must(t, opened.Insert(t.Context(), agent.Record{
		Spec: agent.Spec{Schema: agent.Schema, Handle: "alpha", SessionID: agent.NewSessionID(), ProjectRoot: opened.Project()},
	}))
	return New(supervisor.New(&observe.Project{Machine: local.New(), Store: opened, Now: time.Now}, nil))
}

// What becomes of an entry is written down, whatever it is.
func TestEntryIsSettled(t *testing.T) {
	t.Parallel()
	q := newSender(t).project.Store.Outbox("alpha")
	for what, c := range map[string]struct {
		word Word
		why  error
		want queue.State // "": it is gone
	}{
		"accepted":              {Accepted, nil, ""},
		"queued":                {Queued, nil, ""},
		"unknown":               {Unknown, fail.Errorf(fail.TimedOut, "no proof"), queue.Unknown},
		"a dialog":              {Held, fail.Errorf(fail.Held, "it waits for a person"), queue.Waiting},
		"one that does not run": {Held, fail.Errorf(fail.Conflict, "it does not run"), queue.Waiting},
		"what cannot be typed":  {Held, fail.Errorf(fail.BadInput, "no such command"), queue.Failed},
	} {
		added, err := q.Add(t.Context(), queue.Entry{Text: what, State: queue.Waiting})
		rig.Must(t, err)
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
	q := newSender(t).project.Store.Outbox("alpha")
	added, err := q.Add(t.Context(), queue.Entry{Text: "x", State: queue.Waiting})
	rig.Must(t, err)
	if _, err := q.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	e := &entry{Entry: added, queue: q}
	if err := e.settle(t.Context(), Held, fail.Errorf(fail.Held, "a draft")); err != nil || e.Pending() {
		t.Errorf("%+v, %v", e.Entry, err)
	}
}

// What cannot be written down keeps an entry where it is on disk: a deliverer that went on would find the
// same one again, for ever.
func TestEntryThatCannotBeSettledStays(t *testing.T) {
	t.Parallel()
	for _, word := range []Word{Accepted, Unknown, Held} {
		s := newSender(t)
		q := s.project.Store.Outbox("alpha")
		added, err := q.Add(t.Context(), queue.Entry{Text: "x", State: queue.Waiting})
		rig.Must(t, err)
		e := &entry{Entry: added, queue: q}
		rig.Must(t, e.begin(t.Context(), queue.Typing{Typed: "x"}))
		storetest.Write(t, filepath.Join(s.project.Store.Project(), ".nbs", queue.Folder, q.Newest()), "damaged")
		if err := e.settle(t.Context(), word, nil); err == nil || e.State != queue.Sending || e.Typing == nil || e.Tries != 0 {
			t.Errorf("%s: %+v, %v", word, e.Entry, err)
		}
	}
}

// A message that was kept while its agent was dismissed does not wait for the next one of that name.
func TestMessageToADismissedAgentIsNotKept(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	q := s.project.Store.Outbox("alpha")
	e, err := q.Add(t.Context(), queue.Entry{Text: "x", State: queue.Waiting})
	rig.Must(t, err)
	r, err := s.project.Store.Load("alpha")
	rig.Must(t, err)
	rig.Must(t, s.project.Store.Remove(t.Context(), "alpha"))
	receipt, err := s.deliverNow(t.Context(), &r, e)
	if fail.KindOf(err) != fail.NotFound || receipt.Word != Held || receipt.Outbox != "" || q.Newest() != "" {
		t.Errorf("%+v, %v, %q is kept", receipt, err, q.Newest())
	}
}

// A message that was kept while its agent moved went along: its sender is not told to send it again.
func TestMessageToAnAgentThatHasMovedIsKept(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	q := s.project.Store.Outbox("alpha")
	e, err := q.Add(t.Context(), queue.Entry{Text: "x", State: queue.Waiting})
	rig.Must(t, err)
	r, err := s.project.Store.Load("alpha")
	rig.Must(t, err)
	rig.Must(t, s.project.Store.Moves().Put(moves.Note{
		ID: agent.NewMoveID(), Handle: "alpha", State: moves.Left, Place: "build1", At: storetest.SomeTime(), Messages: []string{e.ID},
	}))
	rig.Must(t, q.Remove(t.Context(), e))
	rig.Must(t, s.project.Store.Remove(t.Context(), "alpha"))
	receipt, err := s.deliverNow(t.Context(), &r, e)
	rig.Check(t, err == nil && receipt.Word == Held && receipt.Outbox == e.ID && strings.Contains(receipt.Reason, "build1"), "%+v, %v", receipt, err)
}

// An entry that was delivered and came back from a backup is in nobody's way.
func TestDeliveredEntryThatCameBack(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	q := s.project.Store.Outbox("alpha")
	e, err := q.Add(t.Context(), queue.Entry{Text: "x", State: queue.Waiting})
	rig.Must(t, err)
	file := filepath.Join(s.project.Store.Project(), ".nbs", queue.Folder, q.Newest())
	kept, err := os.ReadFile(file)
	rig.Must(t, err)
	_, _, err = s.remembered(t.Context(), &Receipt{Handle: "alpha"}, &start{}, &letter{text: "y"}, &observe.Sight{})
	rig.Check(t, errors.Is(err, errOvertakes), "before it was delivered: %v", err)
	rig.Must(t, q.Deliver(t.Context(), e))
	rig.Must(t, os.WriteFile(file, kept, 0o600))
	_, _, err = s.remembered(t.Context(), &Receipt{Handle: "alpha"}, &start{}, &letter{text: "y"}, &observe.Sight{})
	rig.Check(t, q.Newest() != "" && err == nil, "after that: %v", err)
}

// A text that is sent with force is remembered until it is submitted again.
func TestForcedTextIsForgottenWhenItIsSubmitted(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	q := s.project.Store.Outbox("alpha")
	if _, err := q.Add(t.Context(), queue.Entry{Text: "x", State: queue.Unknown, Typing: &queue.Typing{Typed: "x"}}); err != nil {
		t.Fatal(err)
	}
	l := letter{text: "x", force: true}
	var sight observe.Sight
	sight.Record.ConfigDir = t.TempDir() // without a transcript
	_, known, err := s.remembered(t.Context(), &Receipt{Handle: "alpha"}, &start{}, &l, &sight)
	if known || err != nil || q.Newest() == "" {
		t.Errorf("known: %t, %v, %q is kept", known, err, q.Newest())
	}
	for range 2 { // the second time it was removed already
		if err := forget(t.Context(), q, l.again...); err != nil || q.Newest() != "" {
			t.Errorf("%v, %q is kept", err, q.Newest())
		}
	}
}

func TestDraftThatADelivererLeft(t *testing.T) {
	t.Parallel()
	for draft, want := range map[string]bool{"": false, "Read": true, "Read PLAN.md,\n  then": true, "ReadPLAN.md, then go on": true, "eat": false, "Rd": false, "Read it": false} {
		got := isBeginning(draft, "Read PLAN.md, then go on")
		rig.Check(t, got == want, "%q: %t", draft, got)
	}
}
