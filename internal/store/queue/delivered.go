package queue

import (
	"context"
	"encoding/json"
)

const (
	remembered    = 500 // entries of an agent that were delivered last
	deliveredSize = 64 << 10
)

// Deliver removes an entry that was delivered, and remembers that it was. Errors: as of [Queue.Remove].
func (q *Queue) Deliver(ctx context.Context, e Entry) error {
	return q.change(ctx, e, func() error {
		if err := q.remove(&e); err != nil {
			return err
		}
		ids := append(q.delivered(), e.ID)
		_ = q.memory.HandOver(q.deliveredFile(), ids[max(0, len(ids)-remembered):], deliveredSize) // it counts only for an entry that comes back
		return nil
	})
}

// delivered returns the ids of what was delivered last.
func (q *Queue) delivered() (ids []string) {
	text, err := q.memory.Read(q.deliveredFile(), deliveredSize)
	if err == nil {
		_ = json.Unmarshal(text, &ids) // unreadable ids count as forgotten
	}
	return ids
}

func (q *Queue) deliveredFile() string { return q.hash + "." + q.handle.Key() + ".json" }
