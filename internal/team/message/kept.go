package message

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/queue"
	"nbs-worker/internal/team/supervisor"
)

// What a person can do with kept messages.

// Retry delivers an entry again if its arrival is unknown or if it could not be typed. Errors: NotFound; Held when
// the entry is not allowed; those of a delivery.
func (s *Sender) Retry(ctx context.Context, handle agent.Handle, id string) (Receipt, error) {
	r, e, err := s.kept(handle, id)
	if err != nil {
		return Receipt{Handle: handle, Word: Held}, err
	}
	q := s.project.Store.Outbox(r.Handle)
	if err := q.CheckSeal(&e); err != nil {
		return Receipt{Handle: r.Handle, Word: Held}, err
	}
	if !e.Pending() {
		e.State, e.Typing, e.Reason = queue.Waiting, nil, ""
		if err := q.Put(ctx, e); err != nil {
			return Receipt{Handle: r.Handle, Word: Held}, err
		}
	}
	return s.deliverNow(ctx, &r, e)
}

// Drop removes an entry, and records what it was. Errors: NotFound; Conflict while it is being typed.
func (s *Sender) Drop(ctx context.Context, handle agent.Handle, id string) (queue.Entry, error) {
	r, e, err := s.kept(handle, id)
	if err != nil {
		return e, err
	}
	q := s.project.Store.Outbox(r.Handle)
	unlock, err := q.AwaitTurn(ctx, time.Now())
	if err != nil {
		return e, err
	}
	if unlock == nil {
		return e, fail.Errorf(fail.Conflict, "another command delivers what waits for the agent").
			Hint("nbs-worker outbox list %s", r.Handle)
	}
	defer unlock()
	if err := q.Remove(ctx, e); err != nil {
		return e, err
	}
	return e, s.project.Note(ctx, "dropped", &r, supervisor.DroppedWords(&e))
}

// kept finds an entry by its id or a prefix of it. Errors: NotFound; BadInput if the prefix fits several.
func (s *Sender) kept(handle agent.Handle, id string) (r agent.Record, found queue.Entry, err error) {
	if r, err = s.project.Store.Load(handle); err != nil {
		return r, found, err
	}
	all, err := s.project.Store.Outbox(r.Handle).Entries()
	if err != nil {
		return r, found, err
	}
	matching := slices.DeleteFunc(all, func(e queue.Entry) bool { return id == "" || !strings.HasPrefix(e.ID, id) })
	switch len(matching) {
	case 1:
		return r, matching[0], nil
	case 0:
		return r, found, fail.Errorf(fail.NotFound, "no message %s in its outbox", human.Quote(id)).
			Hint("to see what is there: nbs-worker outbox list %s", r.Handle)
	}
	return r, found, fail.Errorf(fail.BadInput, "%s messages in its outbox begin with %s", strconv.Itoa(len(matching)), human.Quote(id)).
		Hint("nbs-worker outbox list %s", r.Handle)
}
