package wire

import (
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/runs"
	"nbs-worker/internal/team/recovery/runbook"
)

// Runbook is a page that can be run.
type Runbook struct {
	Name       string             `json:"name"`
	Source     string             `json:"source"`         // "built-in" or "project"
	File       string             `json:"file,omitempty"` // of the project's own page
	Allowed    bool               `json:"allowed"`
	Why        string             `json:"why,omitempty"` // why it is not allowed, or cannot be read
	Title      string             `json:"title"`
	Summary    string             `json:"summary"`
	Parameters []RunbookParameter `json:"parameters"`
	Steps      []RunbookStep      `json:"steps"`
}

// RunbookParameter is a value that is set for each run of a page.
type RunbookParameter struct {
	Name     string `json:"name"`
	About    string `json:"about"`
	Default  string `json:"default,omitempty"`
	Required bool   `json:"required"`
}

// RunbookStep is a step of a page.
type RunbookStep struct {
	Name    string `json:"name"`
	Title   string `json:"title"` // of its section
	Line    int    `json:"line"`
	Expect  []int  `json:"expect"`            // exit codes that mean success
	Check   bool   `json:"check"`             // it checks the result
	Confirm string `json:"confirm,omitempty"` // the question before the step
	Ask     string `json:"ask,omitempty"`     // the question after the step
}

// NewRunbook converts a page.
func NewRunbook(f runbook.Found) Runbook {
	out := Runbook{Name: f.Name, Source: string(f.Source), File: f.File, Allowed: f.Barred == nil, Parameters: []RunbookParameter{}, Steps: []RunbookStep{}}
	for _, err := range []error{f.Barred, f.Err} {
		if err != nil {
			out.Why = err.Error()
		}
	}
	if f.Page == nil {
		return out
	}
	out.Title, out.Summary = f.Page.Title, f.Page.Summary
	out.Parameters = agent.Mapped(f.Page.Parameters, func(p runbook.Parameter) RunbookParameter { return RunbookParameter(p) })
	out.Steps = agent.Mapped(f.Page.Steps, func(s runbook.Step) RunbookStep {
		return RunbookStep{Name: s.Name, Title: s.Title, Line: s.Line, Expect: s.Expect, Check: s.Check, Confirm: s.Confirm, Ask: s.Ask}
	})
	return out
}

// RunbookRun is a run of a page, or the plan of one.
type RunbookRun struct {
	Runbook string           `json:"runbook"`
	Source  string           `json:"source"` // "built-in" or "project"
	Result  string           `json:"result"` // "done", "failed", "stopped" (for a decision), "interrupted" or "planned"
	Steps   []RunbookStepRun `json:"steps"`  // only those that were begun
}

// RunbookStepRun is the outcome of a step.
type RunbookStepRun struct {
	Name     string           `json:"name"`
	Title    string           `json:"title"`
	State    string           `json:"state"` // "done", "failed", "at work" (it was interrupted), "asks" (it is not confirmed) or "planned"
	Commands []RunbookCommand `json:"commands"`
}

// RunbookCommand is a command of a step.
type RunbookCommand struct {
	Command  []string `json:"command"`
	ExitCode *int     `json:"exit_code"` // null: it did not run
	Stdout   string   `json:"stdout,omitempty"`
	Stderr   string   `json:"stderr,omitempty"`
}

// NewRunbookRun converts a run, which may be incomplete.
func NewRunbookRun(f runbook.Found, all []runbook.Done, err error) RunbookRun {
	steps := agent.Mapped(all, func(done runbook.Done) RunbookStepRun {
		return newStepRun(done.Step, string(done.State), done.Outcomes)
	})
	return RunbookRun{Runbook: f.Name, Source: string(f.Source), Result: result(all, err), Steps: steps}
}

func result(all []runbook.Done, err error) string {
	switch {
	case err == nil:
		return "done"
	case fail.KindOf(err) == fail.Held && !slices.ContainsFunc(all, func(done runbook.Done) bool { return done.State == runs.Failed }):
		return "stopped"
	case fail.KindOf(err) == fail.Interrupted:
		return "interrupted"
	default:
		return "failed"
	}
}

// NewRunbookPlan converts a run that has not begun.
func NewRunbookPlan(f runbook.Found, steps []runbook.Planned) RunbookRun {
	planned := agent.Mapped(steps, func(step runbook.Planned) RunbookStepRun { return newStepRun(step, "planned", nil) })
	return RunbookRun{Runbook: f.Name, Source: string(f.Source), Result: "planned", Steps: planned}
}

func newStepRun(step runbook.Planned, state string, outcomes []runbook.Outcome) RunbookStepRun {
	out := RunbookStepRun{Name: step.Name, Title: step.Title, State: state}
	for i, args := range step.Commands {
		command := RunbookCommand{Command: append([]string{"nbs-worker"}, args...)}
		if i < len(outcomes) {
			command.ExitCode, command.Stdout, command.Stderr = &outcomes[i].Code, outcomes[i].Out, outcomes[i].Errors
		}
		out.Commands = append(out.Commands, command)
	}
	return out
}
