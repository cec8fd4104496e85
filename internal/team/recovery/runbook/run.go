package runbook

import (
	"context"
	"fmt"
	"slices"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/runs"
)

// Verbs runs verbs of nbs-worker.
type Verbs interface {
	// Check returns why a command line cannot be run in a step, or nil. It runs nothing.
	Check(args []string) error
	// Run runs a command line and waits for its end.
	Run(ctx context.Context, args []string) Outcome
}

// Outcome is the result of a verb.
type Outcome struct {
	Code   int
	Out    string // its stdout, if the output is kept
	Errors string // its stderr, if the output is kept
}

// Log records the progress of a run.
type Log interface {
	// Begin takes the lock of the run, until end is called. last is where the previous run stopped before its end, or
	// nil.
	Begin() (last *runs.Run, end func(), err error)
	// Note records the result of a step, before the run goes on.
	Note(ctx context.Context, run runs.Run) error
	// Finish forgets a run that is over; end says how it ended.
	Finish(ctx context.Context, end string) error
}

// Runner runs the steps of a page.
type Runner struct {
	Verbs Verbs
	Log   Log
	// Ask asks a person; nil if there is no person to ask.
	Ask func(question string) (yes bool)
	// Begins is called before each step.
	Begins func(step Planned, number, of int)
	// GoOn returns the command that runs the page from a step on.
	GoOn func(step string) string
}

// Options say how to run a page.
type Options struct {
	From string // the first step; "": that of the page
	Yes  bool   // answers each confirm
}

// Done is the result of a step.
type Done struct {
	Step     Planned
	State    runs.State
	Outcomes []Outcome // of the commands that ran
}

// First checks that all commands can be run, and returns the index of the first step. It runs nothing. Errors:
// BadInput for a step, a verb or a flag that does not exist.
func (r *Runner) First(plan Plan, o Options) (first int, err error) {
	if o.From != "" {
		if first, err = plan.Page.Index(o.From); err != nil {
			return 0, err
		}
	}
	return first, r.check(plan)
}

func (r *Runner) check(plan Plan) error {
	for _, step := range plan.Steps {
		for i, args := range step.Commands {
			if err := r.Verbs.Check(args); err != nil {
				return fail.Errorf(fail.BadInput, "line %d: %w", step.Step.Commands[i].Line, err)
			}
		}
	}
	return nil
}

// Run runs the steps in order, and returns those that were begun, also beside an error. Errors: that of
// [Runner.First]; for a failed step, the kind that its exit code means; Held when a person must decide; Interrupted
// when a person has ended the run; Conflict when the last run stopped before its end and From is empty.
func (r *Runner) Run(ctx context.Context, plan Plan, o Options) ([]Done, error) {
	first, err := r.First(plan, o)
	if err != nil {
		return nil, err
	}
	last, end, err := r.Log.Begin()
	if err != nil {
		return nil, err
	}
	defer end()
	if last != nil && o.From == "" {
		if err := r.unfinished(plan, *last); err != nil {
			return nil, err
		}
	}
	if err := r.checkConfirmable(plan.Steps[first:], o); err != nil {
		return nil, err
	}
	return r.steps(ctx, plan, first, o)
}

func (r *Runner) steps(ctx context.Context, plan Plan, first int, o Options) ([]Done, error) {
	var all []Done
	for i, step := range plan.Steps[first:] {
		r.Begins(step, first+i+1, len(plan.Steps))
		done, err := r.step(ctx, step, o)
		all = append(all, done)
		if err != nil {
			return all, err
		}
		if err := r.judged(ctx, plan, first+i); err != nil {
			return all, err
		}
	}
	return all, r.Log.Finish(ctx, "came to its end")
}

// step runs the commands of one step, and records its state before and after them.
func (r *Runner) step(ctx context.Context, step Planned, o Options) (Done, error) {
	done := Done{Step: step, State: runs.AtWork}
	if err := r.confirmed(ctx, step, o); err != nil {
		done.State = runs.Asks
		return done, err
	}
	if err := r.Log.Note(ctx, runs.Run{Step: step.Name, State: runs.AtWork}); err != nil {
		return done, err
	}
	for i, args := range step.Commands {
		outcome := r.Verbs.Run(ctx, args)
		done.Outcomes = append(done.Outcomes, outcome)
		if ctx.Err() != nil {
			return done, fail.Errorf(fail.Interrupted, "interrupted in step %s", step.Name).Hint("go on: %s", r.GoOn(step.Name))
		}
		if !slices.Contains(step.Expect, outcome.Code) {
			done.State = runs.Failed
			err := r.failed(step, step.Step.Commands[i].Line, outcome.Code)
			return done, join(err, r.Log.Note(ctx, runs.Run{Step: step.Name, State: runs.Failed, Code: outcome.Code}))
		}
	}
	done.State = runs.Done
	return done, r.Log.Note(ctx, runs.Run{Step: step.Name, State: runs.Done})
}

// join adds the text of the second error to the first, which keeps its kind and hints.
func join(first *fail.Error, second error) error {
	if second != nil {
		first.Err = fmt.Errorf("%w; and: %w", first.Err, second)
	}
	return first
}

func (r *Runner) failed(step Planned, line, code int) *fail.Error {
	what := "step " + step.Name
	if step.Check {
		what = "the check " + step.Name
	}
	return fail.Errorf(kindOf(code), "%s failed: line %d ended with %d", what, line, code).
		Hint("when its cause is mended, go on: %s", r.GoOn(step.Name))
}

// kindOf returns the kind of error that an exit code of ours means.
func kindOf(code int) fail.Kind {
	const most = fail.Held
	if kind := fail.Kind(code); kind >= fail.Failed && kind <= most || kind == fail.Interrupted {
		return kind
	}
	return fail.Failed
}

// checkConfirmable refuses a run that would stop before a step because no person can confirm it.
func (r *Runner) checkConfirmable(steps []Planned, o Options) error {
	if r.Ask != nil || o.Yes {
		return nil
	}
	for _, step := range steps {
		if step.Confirm != "" {
			return fail.Errorf(fail.Held, "step %s is to be confirmed, and there is no terminal: %s", step.Name, step.Confirm).
				Hint("if it is meant: %s --yes", r.GoOn(steps[0].Name))
		}
		if step.Ask != "" {
			break // without a terminal the run stops after this step
		}
	}
	return nil
}

// confirmed asks a person to confirm a step; --yes confirms it without asking.
func (r *Runner) confirmed(ctx context.Context, step Planned, o Options) error {
	if step.Confirm == "" || o.Yes || r.Ask(step.Confirm) {
		return nil
	}
	return r.ended(ctx, fail.Errorf(fail.Interrupted, "ended by your answer before step %s", step.Name))
}

// judged has a person judge the output of a step before the next one.
func (r *Runner) judged(ctx context.Context, plan Plan, i int) error {
	step := plan.Steps[i]
	if step.Ask == "" {
		return nil
	}
	if err := r.Log.Note(ctx, runs.Run{Step: step.Name, State: runs.Asks}); err != nil {
		return err
	}
	switch {
	case r.Ask == nil:
		return r.toJudge(plan, i)
	case r.Ask(step.Ask):
		return nil
	}
	return r.ended(ctx, fail.Errorf(fail.Interrupted, "ended by your answer after step %s", step.Name).
		Hint("what the page says of it: nbs-worker runbook show %s", plan.Page.Name).
		Hint("to continue anyway: %s", r.GoOn(plan.Steps[i+1].Name)))
}

// ended forgets a run that a person has ended: the next run starts from the beginning.
func (r *Runner) ended(ctx context.Context, because *fail.Error) error {
	if err := r.Log.Finish(ctx, because.Error()); err != nil {
		return join(because, err)
	}
	return because
}

func (r *Runner) toJudge(plan Plan, i int) error {
	step := plan.Steps[i]
	return fail.Errorf(fail.Held, "it waits for a decision of yours after step %s: %s", step.Name, step.Ask).
		Hint("if so, go on: %s", r.GoOn(plan.Steps[i+1].Name)).
		Hint("if not, look at what the page says: nbs-worker runbook show %s", plan.Page.Name)
}

// unfinished refuses to start from the beginning if the last run stopped before its end: a repeated step may have
// another effect the second time.
func (r *Runner) unfinished(plan Plan, last runs.Run) error {
	i, err := plan.Page.Index(last.Step)
	if err != nil {
		i, last.State = 0, runs.AtWork // the page was changed since
	}
	var stopped *fail.Error
	at := last.At.UTC().Format("2006-01-02 15:04:05Z")
	if last.State == runs.Asks && plan.Steps[i].Ask == "" {
		last.State = runs.Done // it asked before the page was changed
	}
	switch {
	case last.State == runs.Asks:
		return r.toJudge(plan, i)
	case last.State == runs.Done && i == len(plan.Steps)-1:
		return nil // the run was killed after its last step, before Finish
	case last.State == runs.Done:
		stopped = fail.Errorf(fail.Conflict, "the last run ended after step %s, %s", last.Step, at)
		i++
	case last.State == runs.Failed:
		stopped = fail.Errorf(fail.Conflict, "the last run failed in step %s, with %d, %s", last.Step, last.Code, at)
	default:
		stopped = fail.Errorf(fail.Conflict, "the last run was interrupted in step %s, %s", last.Step, at)
	}
	return stopped.Hint("go on: %s", r.GoOn(plan.Steps[i].Name)).
		Hint("or from the beginning: %s", r.GoOn(plan.Steps[0].Name))
}
