package queue

import (
	"context"
	"slices"
)

// MoveTo moves the entries to the outbox of another handle, which the agent now has. Each keeps its id and, unless
// another entry has it there, its place. It is written there before it is removed here: repeating the move after a kill
// duplicates none. An entry without the user's seal stays, and is returned.
func (q *Queue) MoveTo(ctx context.Context, to *Queue) (moved int, unsealed []Entry, err error) {
	unlock, err := q.lock(ctx)
	if err != nil {
		return 0, nil, err
	}
	defer unlock()
	unlockTo, err := to.lock(ctx)
	if err != nil {
		return 0, nil, err
	}
	defer unlockTo()
	all, err := q.Entries()
	if err != nil {
		return 0, nil, err
	}
	there, err := to.Entries()
	if err != nil {
		return 0, nil, err
	}
	delivered, before := q.delivered(), 0
	for _, e := range all {
		if q.CheckSeal(&e) != nil {
			unsealed = append(unsealed, e)
			continue
		}
		sameID := func(other Entry) bool { return other.ID == e.ID }
		if !slices.ContainsFunc(there, sameID) && !slices.Contains(delivered, e.ID) {
			place, _ := q.place(e.name)
			before = to.freePlace(there, max(place, before+1))
			copied := e
			copied.Handle, copied.name = to.handle, to.file(before)
			if err := to.write(&copied); err != nil {
				return moved, unsealed, err
			}
		}
		if err := q.remove(&e); err != nil {
			return moved, unsealed, err
		}
		moved++
	}
	return moved, unsealed, nil
}

// freePlace returns the given place or, if an entry has it, the first free one behind it.
func (q *Queue) freePlace(there []Entry, place int) int {
	for slices.ContainsFunc(there, func(e Entry) bool { return e.name == q.file(place) }) {
		place++
	}
	return place
}
