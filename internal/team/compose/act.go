package compose

import (
	"context"
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/launch"
	"nbs-worker/internal/team/supervisor"
	"nbs-worker/internal/team/teamfile"
	"nbs-worker/internal/team/wait"
	"nbs-worker/internal/team/worktree"
)

// Team is a team file with the project whose agents it names.
type Team struct {
	*supervisor.Supervisor
	File *teamfile.File
	Home *Home
}

// Start starts an agent that does not run, as the file has it now. The conversation of a record stays. The result has no
// record if the agent runs: another command, such as a second up, has started it since the plan was made.
func (t *Team) Start(ctx context.Context, step *Step, start launch.Start) (supervisor.Started, error) {
	started, err := t.start(ctx, step, start)
	if fail.KindOf(err) != fail.Conflict {
		return started, err
	}
	patience := store.Patience{Short: start.Wait, Other: t.Project.Machine.Patience(start.Wait)}
	unlock, late := t.Project.Store.AwaitVerb(ctx, step.Handle, "up", t.Project.Seconds(), patience)
	if late != nil {
		return started, err
	}
	unlock()
	if t.arrives(ctx, step.Handle, start) {
		return supervisor.Started{}, nil
	}
	return started, err
}

func (t *Team) start(ctx context.Context, step *Step, start launch.Start) (supervisor.Started, error) {
	want, err := t.Home.Spec(step.Agent)
	if err != nil {
		return supervisor.Started{}, err
	}
	if step.Action == Spawn {
		start.Prompt = want.InitialPrompt
		spawn := supervisor.Spawn{Spec: want, Start: start}
		if tree := step.Agent.Worktree; tree != nil {
			spawn.Cwd, spawn.Worktree = "", treeOf(tree)
		}
		return t.Spawn(ctx, spawn)
	}
	if t.arrives(ctx, step.Handle, start) {
		return supervisor.Started{}, nil
	}
	return t.bringBack(ctx, step, want, supervisor.Resume{Start: start})
}

// arrives waits while an agent is being started, for as long as a start may take, and reports whether it runs then. It
// may have arrived since the plan was made.
func (t *Team) arrives(ctx context.Context, handle agent.Handle, start launch.Start) bool {
	runs, starting := t.runs(ctx, handle)
	if !starting {
		return runs
	}
	wanted := wait.Wanted{Handles: []agent.Handle{handle}, For: conditions(agent.Idle, agent.Busy, agent.Waiting, "failed")}
	wanted.Timeout = t.Project.Machine.Patience(start.Wait)
	_, err := wait.For(ctx, t.Inspector, wanted)
	if fail.KindOf(err) == fail.TimedOut { // no source may report on a claude that runs
		runs, starting = t.runs(ctx, handle)
		return runs && !starting
	}
	return err == nil
}

// runs reports whether an agent runs, and whether it is being started.
func (t *Team) runs(ctx context.Context, handle agent.Handle) (runs, starting bool) {
	r, err := t.Project.Store.Load(handle)
	if err != nil {
		return false, false
	}
	status := t.Project.LookAt(ctx, r).Status
	return status.Running(), status.State == agent.Starting
}

// Again starts an agent again as the file has it now, and ends it first if it runs.
func (t *Team) Again(ctx context.Context, step *Step, start launch.Start) (supervisor.Started, error) {
	want, err := t.Home.Spec(step.Agent)
	if err != nil {
		return supervisor.Started{}, err
	}
	return t.bringBack(ctx, step, want, supervisor.Resume{Start: start, Force: true})
}

// bringBack starts an agent from its record, unless it was stopped since the plan was made.
func (t *Team) bringBack(ctx context.Context, step *Step, want agent.Spec, resume supervisor.Resume) (supervisor.Started, error) {
	a := step.Agent
	resume.Unstopped = !step.wasStopped
	r, err := t.Project.Store.Load(a.Handle)
	if err != nil {
		return supervisor.Started{}, err
	}
	differs := Compare(&r, a, want)
	if slices.ContainsFunc(differs, func(d Difference) bool { return d.Field == "working_dir" }) {
		resume.Cwd = want.Cwd
	}
	if len(differs) > 0 {
		if _, err := t.Set(ctx, a.Handle, SetOf(&want, a)); err != nil {
			return supervisor.Started{}, err
		}
	}
	return t.Resume(ctx, a.Handle, resume)
}

// Await waits until an agent meets a condition. wanted has the limit, and what says that it takes long.
func (t *Team) Await(ctx context.Context, first *Step, until teamfile.Condition, wanted wait.Wanted) error {
	wanted.Handles, wanted.For = []agent.Handle{first.Handle}, conditions(agent.Idle, agent.Busy) // both take input
	switch until {
	case teamfile.Idle:
		wanted.For = conditions(agent.Idle)
	case teamfile.FirstTurnDone:
		if first.Action != Spawn && t.hasSpoken(ctx, first.Handle) {
			return nil
		}
		wanted.For = conditions("done")
	case teamfile.Started, teamfile.Ready:
	}
	_, err := wait.For(ctx, t.Inspector, wanted)
	return err
}

// conditions returns states to wait for.
func conditions(words ...agent.State) []wait.Condition {
	return agent.Mapped(words, func(word agent.State) wait.Condition {
		condition, _ := wait.ParseCondition(string(word)) // a test waits for each
		return condition
	})
}

// hasSpoken reports whether an idle agent has had a turn in its present conversation, perhaps before its last start.
func (t *Team) hasSpoken(ctx context.Context, handle agent.Handle) bool {
	r, err := t.Project.Store.Load(handle)
	if err != nil {
		return false
	}
	sight := t.Project.LookAt(ctx, r)
	return sight.Status.State == agent.Idle && !sight.Record.TranscriptSeen.IsZero()
}

// PlanTree returns the worktree that the start of an agent makes or takes; nil for none. Errors: why it cannot.
func (t *Team) PlanTree(ctx context.Context, step *Step) (*worktree.Plan, error) {
	if step.Action != Spawn || step.Agent.Worktree == nil {
		return nil, nil
	}
	return t.Supervisor.PlanTree(ctx, step.Handle, treeOf(step.Agent.Worktree))
}

func treeOf(tree *teamfile.Worktree) *supervisor.Worktree {
	return &supervisor.Worktree{Branch: tree.Branch, Base: tree.Base, Link: tree.Link, Setup: tree.Setup}
}
