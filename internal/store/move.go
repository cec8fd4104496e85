package store

import (
	"context"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/journal"
)

// Move changes a record as [Store.Update] does. If change finds that the agent has switched to another conversation,
// Move journals the switch. untold is the error of the journal; the record is written even then.
func (s *Store) Move(ctx context.Context, handle agent.Handle, at time.Time, change func(*agent.Record) error) (r agent.Record, untold, err error) {
	var from agent.SessionID
	r, err = s.Update(ctx, handle, func(r *agent.Record) error {
		from = r.SessionID
		return change(r)
	})
	if err != nil || r.SessionID == from {
		return r, nil, err
	}
	reason := r.PreviousSessions[len(r.PreviousSessions)-1].Reason
	return r, s.journal.Append(ctx, journal.EventOf(&r, at.UTC().Truncate(time.Second), "moved", reason+", from "+string(from))), nil
}
