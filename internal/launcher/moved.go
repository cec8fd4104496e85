package launcher

import (
	"context"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store"
)

// Move changes a record, as [store.Store.Update] does, where the change may find that the
// agent has gone into another conversation by itself: then the journal tells it. untold is
// why it does not; the record is written all the same.
func Move(ctx context.Context, in *store.Store, handle agent.Handle, at time.Time, change func(*agent.Record) error) (r agent.Record, untold, err error) {
	var from agent.SessionID
	r, err = in.Update(ctx, handle, func(r *agent.Record) error {
		from = r.SessionID
		return change(r)
	})
	if err != nil || r.SessionID == from {
		return r, nil, err
	}
	reason := r.PreviousSessions[len(r.PreviousSessions)-1].Reason
	return r, in.Append(ctx, store.EventOf(&r, stamp(at), "moved", reason+", from "+string(from))), nil
}
