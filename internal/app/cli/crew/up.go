package crew

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/turns"
	"nbs-worker/internal/team/compose"
	"nbs-worker/internal/team/teamfile"
	"nbs-worker/internal/team/wait"
	"nbs-worker/internal/team/worktree"
)

type upOptions struct {
	teamOptions

	dryRun, wait, trust bool
	timeout             time.Duration
}

func newUpCmd(f *ui.Factory) *cobra.Command {
	o := &upOptions{}
	cmd := &cobra.Command{
		Use:   "up [<handle>... | @GROUP...]",
		Short: "Start the agents of the team file that do not run",
		Long: ui.WithCodes(`Starts the agents of team.yaml, or the named ones and those that they depend on: a new agent
if there is no record, and otherwise the recorded conversation. An agent starts as soon as those
that it depends on are as it needs them. Agents that do not depend on each other start side by
side.

up does not touch an agent that runs: restart gives it what has changed in the file. An agent
that a person has stopped stays stopped, unless its handle is given; a group does not count. An
agent that down has stopped starts again. Agents that the file does not name are left alone.

Details:

The file needs your seal. On a terminal, up shows a file that has changed, and asks. An up that
was interrupted or killed is run again: it does the rest. Of two that run at once, one starts an
agent, and the other waits for it. More: nbs-worker help team.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Partial, fail.Held, fail.Interrupted),
		Annotations: ui.Usual("dry-run file profile trust wait json"),
		Example: `  nbs-worker up
  nbs-worker up --dry-run
  nbs-worker up reviewer @tests --wait`,
		Args:              o.positional,
		ValidArgsFunction: completeNames(f),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runUp(cmd.Context(), f, o)
		},
	}
	o.bind(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&o.dryRun, "dry-run", false, "print what would be done, and change nothing")
	flags.BoolVar(&o.wait, "wait", false, "return when all the agents are idle, and not already when they are ready")
	flags.BoolVar(&o.NoDeps, "no-deps", false, "start only the named agents, and wait for no other")
	flags.BoolVar(&o.trust, "trust", false, "trust the agents' folders in the project, as Claude's dialog does")
	flags.DurationVar(&o.timeout, "timeout", 0, "how long to wait for one agent to be idle, or as another needs it (default: no limit)")
	return f.WithJSON(cmd)
}

func runUp(ctx context.Context, f *ui.Factory, o *upOptions) error {
	if o.timeout < 0 {
		return ui.Failed(fail.Errorf(fail.BadInput, "--timeout %s is negative", o.timeout).Hint("0: no limit"), "up")
	}
	team, steps, err := planUp(ctx, f, o)
	if err != nil || len(steps) == 0 {
		return ui.Failed(err, "up")
	}
	if o.dryRun {
		return ui.Failed(printPlan(ctx, f, team, steps), "up")
	}
	run := compose.NewRun(steps, turns.AtOnce())
	run.Await = func(ctx context.Context, first *compose.Step, until teamfile.Condition, by agent.Handle) error {
		return team.Await(ctx, first, until, o.patience(f, fmt.Sprintf("%s waits until %s is %s", by, first.Handle, until)))
	}
	return f.Each(ctx, "up", handlesOf(steps), true, len(steps), func(handle agent.Handle) (ui.Outcome, error) {
		step := stepOf(steps, handle)
		made := leftAlone(step)
		err := run.Do(ctx, handle, func(step *compose.Step) error {
			started, err := team.Start(ctx, step, startOf(f, handle, o.trust))
			f.SayStarted(handle, started)
			switch {
			case err != nil:
			case started.Record.Handle == "": // it runs by now
				step.Action = compose.Keep
				made = leftAlone(step)
			default:
				made = f.StartedOutcome(team.Supervisor, started)
				made.JSON = wire.NewTeamStep(step, nil).With(started)
			}
			return err
		})
		if err != nil {
			return ui.Outcome{}, err
		}
		if o.wait && step.Action != compose.Stay {
			err = team.Await(ctx, step, teamfile.Idle, o.patience(f, fmt.Sprintf("up waits until %s is idle", handle)))
		}
		return made, err
	})
}

// planUp reads the team file and plans. Nothing is created or asked before the plan is sound.
func planUp(ctx context.Context, f *ui.Factory, o *upOptions) (*compose.Team, []compose.Step, error) {
	s, err := f.Planner()
	if err != nil {
		return nil, nil, err
	}
	team, source, now, err := o.look(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	steps, err := compose.PlanUp(team.File, o.Selection, now)
	if err != nil || o.dryRun {
		return team, steps, err
	}
	if !s.Project.Store.Exists() {
		if s, err = f.NewProject(); err != nil {
			return nil, nil, err
		}
		team.Supervisor = s
	}
	return team, steps, allow(ctx, f, s, source)
}

// patience is how up waits for an agent. what is said once if it takes long.
func (o *upOptions) patience(f *ui.Factory, what string) wait.Wanted {
	return wait.Wanted{Timeout: o.timeout, NoticeAfter: ui.NoticeAfter, Notice: func(missing string, hints []string) {
		f.Say("%s: %s", what, missing)
		for _, hint := range hints {
			f.Hint("%s", hint)
		}
	}}
}

func stepOf(steps []compose.Step, handle agent.Handle) *compose.Step {
	for i := range steps {
		if steps[i].Handle == handle {
			return &steps[i]
		}
	}
	return nil
}

// leftAlone returns the outcome for an agent that is left alone.
func leftAlone(step *compose.Step) ui.Outcome {
	words := "runs already"
	if step.Action == compose.Stay {
		words = "stays stopped"
	}
	return ui.Outcome{JSON: wire.NewTeamStep(step, nil), Handle: step.Handle, Words: words}
}

// planWords says what would be done with an agent.
var planWords = map[compose.Action]string{
	compose.Spawn: "start", compose.Resume: "resume", compose.Restart: "restart", compose.Stop: "stop",
	compose.Keep: "runs already", compose.Stay: "stays stopped",
}

// printPlan prints a plan, with what would change in the records.
func printPlan(ctx context.Context, f *ui.Factory, team *compose.Team, steps []compose.Step) error {
	var all []wire.TeamStep
	t := f.NewTable("AGENT", "ACTION", "AFTER", "CHANGES")
	t.Under = 1
	for i := range steps {
		step := &steps[i]
		changed, err := changesOf(team, step)
		tree, noTree := team.PlanTree(ctx, step)
		if err = cmp.Or(err, noTree); err != nil {
			return fmt.Errorf("%s: %w", step.Handle, err)
		}
		all = append(all, wire.NewTeamStep(step, changed).InTree(tree))
		after := agent.Mapped(step.Needs, func(need teamfile.Dependency) string { return string(need.On) })
		words := agent.Mapped(changed, func(d compose.Difference) string { return d.Field })
		if tree != nil {
			words = append(words, treeWords(team.Project.Store.Project(), tree))
		}
		t.Row(ui.Text(string(step.Handle)), ui.Text(planWords[step.Action]), ui.Text(strings.Join(after, ", ")), ui.Text(strings.Join(words, ", ")))
	}
	if f.JSON {
		return f.PrintJSON(all)
	}
	return t.Flush()
}

// treeWords says which worktree is made.
func treeWords(project string, tree *worktree.Plan) string {
	at := ui.Relative(project, tree.Path)
	switch {
	case tree.Left:
		return "takes the worktree " + at + " as it is"
	case tree.NewBranch:
		return "makes the worktree " + at + " on the new branch " + tree.Branch
	}
	return "makes the worktree " + at + " on the branch " + tree.Branch
}

// changesOf returns what a resume or restart of an agent would change in its record.
func changesOf(team *compose.Team, step *compose.Step) ([]compose.Difference, error) {
	if step.Action != compose.Resume && step.Action != compose.Restart && step.Action != compose.Spawn {
		return nil, nil
	}
	want, err := team.Home.Spec(step.Agent)
	if err != nil || step.Action == compose.Spawn {
		return nil, err
	}
	r, err := team.Project.Store.Load(step.Handle)
	if err != nil {
		return nil, err
	}
	return compose.Compare(&r, step.Agent, want), nil
}
