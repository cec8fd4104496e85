package ui

import (
	"context"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/team/supervisor"
)

// NoteLook notes that a person has looked at agents at a time; what an agent does is no look. It is not reported if that
// cannot be noted: the needs of the agents are then shown once more.
func NoteLook(ctx context.Context, s *supervisor.Supervisor, at time.Time, handles ...agent.Handle) {
	if s.Caller == nil {
		_ = s.Project.Store.Seen().Mark(ctx, at, handles...)
	}
}

// NoteAnswer notes that a person has seen the answer of a turn that was begun after a time. The answer is in the transcript
// a moment before the agent's hook reports the end of the turn: the look counts for that end. Where no hook reports it,
// no need comes of it either.
func NoteAnswer(ctx context.Context, s *supervisor.Supervisor, begun time.Time, handle agent.Handle) {
	const late, every = 2 * time.Second, 5 * time.Millisecond
	if s.Caller != nil {
		return
	}
	seen := s.Project.Now()
	for {
		report := s.Project.Store.Report(handle)
		ended := report.TurnEnd()
		if ended.After(begun) || s.Project.Now().Sub(seen) > late || clock.Sleep(ctx, every) != nil {
			if ended.After(seen) {
				seen = ended
			}
			NoteLook(ctx, s, seen, handle)
			return
		}
	}
}
