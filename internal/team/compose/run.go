package compose

import (
	"context"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/teamfile"
)

// Run is a plan that is carried out. Each step waits for the steps that it needs, so all steps are done at the same
// time, by [Run.Do]. A failure stops only what depends on it.
type Run struct {
	// Await waits until an agent meets the condition that another one has for it. The first step is of that agent.
	Await func(ctx context.Context, first *Step, condition teamfile.Condition, by agent.Handle) error

	turns    chan struct{}
	outcomes map[agent.Handle]*outcome
}

// outcome is how a step ended; err may be read when over is closed.
type outcome struct {
	step *Step
	over chan struct{}
	err  error // why those that depend on the agent cannot start
}

// NewRun returns a run of the steps, with atOnce agents started or stopped at a time.
func NewRun(steps []Step, atOnce int) *Run {
	r := &Run{turns: make(chan struct{}, atOnce), outcomes: map[agent.Handle]*outcome{}}
	for i := range steps {
		r.outcomes[steps[i].Handle] = &outcome{step: &steps[i], over: make(chan struct{})}
	}
	return r
}

// Do does the step of an agent with act, when it is its turn. act is not called for an agent that is left alone. After
// an interrupt no further step is begun.
func (r *Run) Do(ctx context.Context, handle agent.Handle, act func(*Step) error) error {
	o := r.outcomes[handle]
	defer close(o.over)
	o.err = r.do(ctx, o.step, act)
	return o.err
}

func (r *Run) do(ctx context.Context, step *Step, act func(*Step) error) error {
	for _, need := range step.Needs {
		if err := r.await(ctx, need, step.Handle); err != nil {
			return err
		}
	}
	if !step.acts() {
		return nil
	}
	select {
	case r.turns <- struct{}{}:
		defer func() { <-r.turns }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return errInterrupted()
	}
	return act(step)
}

func errInterrupted() error { return fail.Errorf(fail.Interrupted, "interrupted; nothing was done") }

// await waits until an agent is as another one needs it. A start that is late or at a dialog goes on: that is enough
// for an agent that needs it only started.
func (r *Run) await(ctx context.Context, need teamfile.Dependency, by agent.Handle) error {
	first := r.outcomes[need.On]
	select {
	case <-first.over:
	case <-ctx.Done():
		return errInterrupted()
	}
	kind := fail.KindOf(first.err)
	goesOn := kind == fail.Held || kind == fail.TimedOut
	switch {
	case need.Condition == over:
		return nil
	case first.step.Action == Stay:
		return fail.Errorf(fail.Held, "it depends on %s, which a person has stopped", need.On).
			Hint("to start both: nbs-worker up %s %s", need.On, by).
			Hint("to start it alone: nbs-worker up --no-deps %s", by)
	case first.err != nil && (!goesOn || need.Condition != teamfile.Started):
		return fail.Errorf(kind, "it depends on %s, which could not be started", need.On).
			Hint("to start it alone: nbs-worker up --no-deps %s", by)
	case need.Condition == teamfile.Started:
		return nil
	}
	return r.Await(ctx, first.step, need.Condition, by)
}
