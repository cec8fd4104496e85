package supervisor

import (
	"context"
	"errors"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/keep"
	"nbs-worker/internal/team/launch"
)

// Prepared is what a launcher in the caller's terminal needs to know.
type Prepared struct {
	Invocation agent.Invocation // to run the agent under
	Restored   *keep.Restored   // the transcript that was restored; nil: it was not missing
	Loss       *keep.Loss       // what was cut off the transcript; nil: nothing
	GiveBack   func()           // ends the turn of the start when claude is ready; the end of this process does too
}

// Prepare prepares an agent for a launcher in the caller's own terminal, without tmux. Without a terminal, claude
// would answer one prompt and leave. The result says what became of the transcript, also beside an error.
func (s *Supervisor) Prepare(ctx context.Context, handle agent.Handle, terminal bool, progress func(what string)) (Prepared, error) {
	unlock, err := s.lockVerb(ctx, handle, "run")
	if err != nil {
		return Prepared{}, err
	}
	defer unlock()
	sight, err := s.settledDown(ctx, handle, false)
	if err != nil {
		return Prepared{}, err
	}
	r := sight.Record
	if _, err := s.granted(&r, Resume{}); err != nil {
		return Prepared{}, err
	}
	if !terminal {
		return Prepared{}, fail.Errorf(fail.BadInput, "stdin is not a terminal").
			Hint("to run it in the background: nbs-worker resume %s", handle)
	}
	resume := Resume{Start: launch.Start{InPlace: true, Progress: progress}}
	if _, err := s.planResume(r, resume); err != nil {
		return Prepared{}, err
	}
	if r, err = s.clear(ctx, r); err != nil {
		return Prepared{}, err
	}
	plan, restored, err := s.starter().Restored(ctx, "run", func() (launch.Plan, error) { return s.planResume(r, resume) })
	if err != nil {
		return Prepared{Restored: restored}, err
	}
	ready := Prepared{Restored: restored, Loss: plan.Loss}
	if err := s.Keeper.NoteLoss(ctx, &plan.Record, plan.Loss); err != nil {
		return ready, err
	}
	if ready.GiveBack, err = s.starter().AwaitTurn(ctx, plan); err != nil {
		return ready, err
	}
	claimed, err := s.starter().Claim(ctx, plan)
	if err != nil {
		return ready, err
	}
	ready.Invocation = claimed.Process.Invocation
	if err := s.Project.Store.PutLaunch(claimed.Handle, s.starter().LaunchOf(plan, &claimed)); err != nil {
		return ready, errors.Join(err, s.restore(ctx, r, claimed))
	}
	return ready, nil
}

// PrepareSpawn prepares a new agent in the same way as [Supervisor.Prepare].
func (s *Supervisor) PrepareSpawn(ctx context.Context, spawn Spawn) (Prepared, error) {
	unlock, err := s.lockVerb(ctx, spawn.Handle, "spawn")
	if err != nil {
		return Prepared{}, err
	}
	defer unlock()
	if spawn, err = s.withTree(ctx, ctx, spawn); err != nil {
		return Prepared{}, err
	}
	plan, restored, err := s.insert(ctx, spawn)
	ready := Prepared{Restored: restored, Loss: plan.Loss}
	if err != nil {
		return ready, err
	}
	ready.Invocation = plan.Claimed.Process.Invocation
	if ready.GiveBack, err = s.starter().AwaitTurn(ctx, plan); err != nil {
		return ready, err
	}
	if err := s.Project.Store.PutLaunch(spawn.Handle, s.starter().LaunchOf(plan, plan.Claimed)); err != nil {
		return ready, s.withRecordKept(err, plan.Claimed, spawn.Handle)
	}
	return ready, nil
}
