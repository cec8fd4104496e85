package agents

import (
	"context"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

func newForkCmd(f *ui.Factory) *cobra.Command {
	o := &startOptions{}
	cmd := &cobra.Command{
		Use:   "fork <handle> <new handle>",
		Short: "Start a second agent with a copy of a conversation",
		Long: ui.WithCodes(`Starts a new agent that knows all that was said in the conversation of another one. Claude
makes the copy, under a session id of its own, when the new agent starts. The first agent is not
disturbed, and may be in the middle of a turn: the copy ends with what is in its transcript.

The new agent has the model, permissions, folder, arguments and variables of the first one, and
no git worktree of its own: both work in the same folder. What is remembered about the first one
stays with it.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held, fail.Interrupted),
		Annotations: ui.Usual("prompt prompt-file no-wait trust json"),
		Example: `  nbs-worker fork theologian heretic
  nbs-worker fork theologian heretic --prompt 'Now argue the opposite.'`,
		Args:              twoHandles,
		ValidArgsFunction: ui.Once(f.HandlesWhere(ui.AnyAgent)),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.promptGiven, o.timeoutGiven = cmd.Flags().Changed("prompt"), cmd.Flags().Changed("timeout")
			return ui.Failed(runFork(cmd.Context(), f, o, agent.Handle(args[0]), agent.Handle(args[1])), "fork", args[0])
		},
	}
	o.bind(cmd)
	return f.WithJSON(cmd)
}

func runFork(ctx context.Context, f *ui.Factory, o *startOptions, handle, forked agent.Handle) error {
	start, err := o.parse(f, forked)
	if err != nil {
		return err
	}
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	if err := o.takePrompt(f, s, &start); err != nil {
		return err
	}
	spawn, err := s.ForkOf(ctx, handle, forked)
	if err != nil {
		return err
	}
	spawn.Start = start
	if o.dryRun {
		plan, err := s.PlanSpawn(ctx, spawn)
		if err != nil {
			return err
		}
		return f.ShowOne(planned(f, plan))
	}
	started, err := s.Spawn(ctx, spawn)
	f.SayStarted(forked, started)
	if err != nil {
		return err
	}
	f.Say("%s works in the folder of %s: %s", forked, handle, human.Quote(started.Record.LaunchCwd()))
	return f.ShowOne(f.StartedOutcome(s, started))
}
