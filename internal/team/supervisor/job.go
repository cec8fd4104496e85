package supervisor

import (
	"context"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/platform/slurm"
	"nbs-worker/internal/team/observe"
)

// How long a job may take to end after its cancellation, and how often Slurm is asked meanwhile. A cluster gives a job 30
// s for SIGTERM, and may run a program of its own after it.
const (
	jobEnds  = 3 * time.Minute
	jobAsked = time.Second
)

// endJob ends the jobs of Slurm in which an agent runs, or is to run again. The job's own nbs-worker stops the agent in
// order; it needs the verb lock, so this command must not hold it. An agent that is not in a job, or that can be ended
// from here, is left. was is its state before; nil if nothing was ended. Errors: those of allowed; Unfit when Slurm does
// not answer; TimedOut.
func (s *Supervisor) endJob(ctx context.Context, handle agent.Handle, allowed func(*agent.Record) error) (was *agent.Status, err error) {
	r, err := s.Project.Store.Load(handle)
	if err == nil {
		err = allowed(&r)
	}
	if err != nil || !observe.InSlurm(&r) {
		return nil, err
	}
	sight := s.Project.LookAt(ctx, r)
	job := sight.Job
	if job == nil {
		return nil, nil
	}
	if job.Err != nil {
		if sight.Status.Down() {
			return nil, nil
		}
		return nil, fail.Errorf(fail.Unfit, "its job cannot be ended, and nothing was changed: %w", job.Err).Hint("when Slurm answers, repeat the command")
	}
	ids := agent.Mapped(job.All, func(j slurm.Job) string { return j.ID })
	if slices.Contains(ids, s.Project.Variable("SLURM_JOB_ID")) { // which leaves by itself
		return nil, nil
	}
	if err := s.Project.Store.CheckSeal(&r); err != nil { // whoever writes a record must not end a job by it
		return nil, err
	}
	if _, err := s.update(ctx, handle, func(r *agent.Record) error {
		r.Desired = agent.DesiredStopped
		return nil
	}); err != nil {
		return nil, err
	}
	if err := s.Project.Slurm().Cancel(ctx, ids...); err != nil {
		return nil, err
	}
	return &sight.Status, s.awaitJobEnd(ctx, &r, job.Job)
}

// awaitJobEnd waits until Slurm has no job of an agent any more.
func (s *Supervisor) awaitJobEnd(ctx context.Context, r *agent.Record, job slurm.Job) error {
	cancelled := time.Now()
	for {
		now := s.Project.JobSince(ctx, r, later(cancelled, time.Now().Add(-jobAsked)))
		if now == nil || now.Err == nil && len(now.All) == 0 {
			return nil
		}
		if time.Since(cancelled) > jobEnds {
			return fail.Errorf(fail.TimedOut, "job %s was cancelled, and has not ended within %s: %s", job.ID, jobEnds, now.Word()).
				Hint("to see it: squeue -j %s; when it has ended, repeat the command", human.ShellWord(job.ID))
		}
		if err := clock.Sleep(ctx, jobAsked); err != nil {
			return fail.Errorf(fail.Interrupted, "its job %s was cancelled, and has not ended yet", job.ID).Hint("to complete it, repeat the command")
		}
	}
}

// checkQueue refuses to start an agent here whose job waits: Slurm will start it on a node. Errors: Conflict.
func (s *Supervisor) checkQueue(sight *observe.Sight) error {
	job := sight.Job
	waits := job != nil && job.Err == nil && job.Waits()
	if !waits || s.Project.Variable("SLURM_JOB_ID") != "" { // a job may start it
		return nil
	}
	return fail.Errorf(fail.Conflict, "Slurm will start the agent: %s", job.Word()).
		Hint("to start it here, take its job out of the queue first: nbs-worker stop %[1]s && nbs-worker resume %[1]s", sight.Record.Handle)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
