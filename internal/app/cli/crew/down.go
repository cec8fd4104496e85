package crew

import (
	"context"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/turns"
	"nbs-worker/internal/team/compose"
)

type downOptions struct {
	teamOptions

	dryRun bool
}

func newDownCmd(f *ui.Factory) *cobra.Command {
	o := &downOptions{}
	cmd := &cobra.Command{
		Use:   "down [<handle>... | @GROUP...]",
		Short: "Stop the agents of the team file, and keep their records",
		Long: ui.WithCodes(`Stops the agents of team.yaml, or the named ones, as nbs-worker stop does. An agent stops after
those that depend on it. The records and conversations stay, and up starts the agents again.
Agents that the file does not name are left alone. Unless all handles are given, the file needs
your seal, as for up.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Partial, fail.Held, fail.Interrupted),
		Example: `  nbs-worker down
  nbs-worker down @tests`,
		Args:              o.positional,
		ValidArgsFunction: completeNames(f),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDown(cmd.Context(), f, o)
		},
	}
	o.bind(cmd)
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "print what would be done, and change nothing")
	return f.WithJSON(cmd)
}

func runDown(ctx context.Context, f *ui.Factory, o *downOptions) error {
	s, err := f.Supervisor()
	if err != nil {
		return ui.Failed(err, "down")
	}
	team, source, now, err := o.look(ctx, s)
	if err != nil {
		return ui.Failed(err, "down")
	}
	steps, err := compose.PlanDown(team.File, o.Selection, now)
	if err != nil {
		return ui.Failed(err, "down")
	}
	if o.dryRun {
		return ui.Failed(printPlan(ctx, f, team, steps), "down")
	}
	if !o.OnlyHandles() {
		if err := allow(ctx, f, s, source); err != nil {
			return ui.Failed(err, "down")
		}
	}
	if len(steps) == 0 {
		f.Note("there is no agent to stop")
	}
	run := compose.NewRun(steps, turns.AtOnce())
	return f.Each(ctx, "down", handlesOf(steps), true, max(1, len(steps)), func(handle agent.Handle) (ui.Outcome, error) {
		made := leftAlone(stepOf(steps, handle))
		err := run.Do(ctx, handle, func(step *compose.Step) error {
			ended, err := s.Down(ctx, handle)
			if err != nil {
				return err
			}
			f.SayEnded("down", ended)
			made = ui.Outcome{JSON: wire.NewTeamStep(step, nil).WithEnd(ended), Handle: handle, Words: "stopped, was " + ended.Was.Word()}
			return nil
		})
		if err != nil {
			return ui.Outcome{}, err
		}
		return made, nil
	})
}
