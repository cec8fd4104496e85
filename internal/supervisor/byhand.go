package supervisor

import (
	"context"

	"nbs-worker/internal/agent"
)

// Prepare readies an agent to be run by a launcher in the caller's own terminal,
// without tmux, and returns the invocation under which to run it. Without a terminal
// claude would answer one prompt and leave. It says of a transcript that it was put back.
func (s *Supervisor) Prepare(ctx context.Context, handle agent.Handle, terminal bool) (agent.Invocation, *Restored, error) {
	unlock, err := s.Store.LockVerb(handle, "run", s.now())
	if err != nil {
		return "", nil, err
	}
	defer unlock()
	sight, err := s.settledDown(ctx, handle, false)
	if err != nil {
		return "", nil, err
	}
	r := sight.Record
	if !terminal {
		return "", nil, agent.Errorf(agent.BadInput, "stdin is not a terminal").
			Hint("to run it in the background: nbs-worker resume %s", handle)
	}
	resume := Resume{Start: Start{InPlace: true}}
	if _, err := s.planResume(r, resume); err != nil {
		return "", nil, err
	}
	if r, err = s.clear(ctx, r); err != nil {
		return "", nil, err
	}
	plan, restored, err := s.restoredPlan(ctx, "run", func() (Plan, error) { return s.planResume(r, resume) })
	if err != nil {
		return "", nil, err
	}
	if r, err = s.claim(ctx, plan); err != nil {
		return "", nil, err
	}
	return r.Process.Invocation, restored, s.Store.PutLaunch(r.Handle, s.launchOf(plan, &r))
}
