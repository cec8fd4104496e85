package launch

import (
	"cmp"
	"context"

	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/team/keep"
)

// Restored makes a plan, and restores the transcript that the plan needs. It joins all kept parts: the last part may
// begin in the middle of the conversation.
func (s Starter) Restored(ctx context.Context, verb string, plan func() (Plan, error)) (Plan, *keep.Restored, error) {
	p, err := plan()
	if err != nil || p.Opening != cmdline.OpenResume {
		return p, nil, err
	}
	var restored *keep.Restored
	if p.Restores != nil {
		if restored, err = s.Keeper.PutBack(ctx, verb, &p.Record, p.config); err != nil {
			return p, restored, err
		}
	}
	rejoined, err := s.Keeper.Rejoin(ctx, verb, &p.Record)
	if restored = cmp.Or(restored, rejoined); err != nil || restored == nil {
		return p, restored, err
	}
	p, err = plan()
	return p, restored, err
}
