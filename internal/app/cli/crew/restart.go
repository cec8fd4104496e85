package crew

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/compose"
	"nbs-worker/internal/team/supervisor"
)

type restartOptions struct {
	teamOptions

	rolling, dryRun, trust bool
}

func newRestartCmd(f *ui.Factory) *cobra.Command {
	o := &restartOptions{}
	cmd := &cobra.Command{
		Use:   "restart [<handle>... | @GROUP...]",
		Short: "Start running agents again, as the team file has them now",
		Long: ui.WithCodes(`Ends the running agents of team.yaml, or the named ones, and starts each again in the same
conversation, with what the file says now: model, permission mode, arguments, variables, folder,
restart policy, memory. It breaks off a turn: to let the turns end first, use nbs-worker wait
--for idle. An agent that has ended by itself is started too; one that is stopped only if its
handle is given. A restart that was killed is run again: it starts what it has ended.

--rolling restarts one agent after the other, each after those that it depends on, and stops at
the first that does not come back: the others run on as they are.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Partial, fail.Held, fail.Interrupted),
		Example: `  nbs-worker restart --rolling
  nbs-worker restart reviewer`,
		Args:              o.positional,
		ValidArgsFunction: completeNames(f),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runRestart(cmd.Context(), f, o)
		},
	}
	o.bind(cmd)
	cmd.Flags().BoolVar(&o.rolling, "rolling", false, "one after the other; stop at the first that does not come back")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "print what would be done, and change nothing")
	cmd.Flags().BoolVar(&o.trust, "trust", false, "trust the agents' folders in the project, as Claude's dialog does")
	return f.WithJSON(cmd)
}

func runRestart(ctx context.Context, f *ui.Factory, o *restartOptions) error {
	team, steps, err := planRestart(ctx, f, o)
	if err != nil {
		return ui.Failed(err, "restart")
	}
	if o.dryRun {
		return ui.Failed(printPlan(ctx, f, team, steps), "restart")
	}
	if len(steps) == 0 {
		f.Note("there is no agent to restart")
	}
	atOnce := ui.AtOnce()
	if o.rolling {
		atOnce = 1
	}
	var lost atomic.Pointer[agent.Handle]
	return f.Each(ctx, "restart", handlesOf(steps), true, atOnce, func(handle agent.Handle) (ui.Outcome, error) {
		if before := lost.Load(); before != nil {
			return ui.Outcome{}, fail.Errorf(fail.Held, "not restarted, because %s did not come back", *before)
		}
		step := stepOf(steps, handle)
		started, err := team.Again(ctx, step, startOf(f, handle, o.trust))
		f.SayStarted(handle, started)
		if err != nil {
			if o.rolling && !errors.Is(err, supervisor.ErrStopped) {
				lost.Store(&handle)
			}
			return ui.Outcome{}, err
		}
		made := f.StartedOutcome(team.Supervisor, started)
		made.JSON = wire.NewTeamStep(step, nil).With(started)
		return made, nil
	})
}

func planRestart(ctx context.Context, f *ui.Factory, o *restartOptions) (*compose.Team, []compose.Step, error) {
	s, err := f.Supervisor()
	if err != nil {
		return nil, nil, err
	}
	team, source, now, err := o.look(ctx, s)
	if fail.KindOf(err) == fail.NotFound && o.file == "" && len(o.Names) == 1 && !strings.HasPrefix(o.Names[0], "@") {
		err = fail.Errorf(fail.NotFound, "%w", err).Hint("to start it again as its record says: nbs-worker resume %s --force", o.Names[0])
	}
	if err != nil {
		return nil, nil, err
	}
	steps, err := compose.PlanRestart(team.File, o.Selection, now)
	if err != nil || o.dryRun {
		return team, steps, err
	}
	return team, steps, allow(ctx, f, s, source)
}
