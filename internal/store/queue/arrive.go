package queue

import (
	"context"
	"slices"

	"nbs-worker/internal/agent"
)

// Arrive puts the entries of an agent that has moved here into its outbox, each under its own id and in its order. One
// that is there, or was delivered, stays as it is: arriving twice duplicates none.
func (q *Queue) Arrive(ctx context.Context, entries []Entry) error {
	if len(entries) == 0 {
		return nil
	}
	if err := q.nbs.Prepare(); err != nil {
		return err
	}
	unlock, err := q.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	there, err := q.Entries()
	if err != nil {
		return err
	}
	place := 0
	if len(there) > 0 {
		place, _ = q.place(there[len(there)-1].name)
	}
	known := append(q.delivered(), agent.Mapped(there, func(e Entry) string { return e.ID })...)
	for _, e := range entries {
		if slices.Contains(known, e.ID) {
			continue
		}
		place++
		e.Handle, e.name = q.handle, q.file(place)
		if err := q.write(&e); err != nil {
			return err
		}
	}
	return nil
}

// Sealed returns the entries that have the user's seal, and those that have not.
func (q *Queue) Sealed() (all, unsealed []Entry, err error) {
	entries, err := q.Entries()
	for _, e := range entries {
		if q.CheckSeal(&e) != nil {
			unsealed = append(unsealed, e)
			continue
		}
		all = append(all, e)
	}
	return all, unsealed, err
}
