package ui

import (
	"context"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/team/supervisor"
)

// NoteLook notes that a person has looked at agents at a time; what an agent does is no look. It is not reported if that
// cannot be noted: the needs of the agents are then shown once more.
func NoteLook(ctx context.Context, s *supervisor.Supervisor, at time.Time, handles ...agent.Handle) {
	if s.Caller == nil {
		_ = s.Project.Store.Seen().Mark(ctx, at, handles...)
	}
}
