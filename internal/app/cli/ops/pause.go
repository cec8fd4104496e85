package ops

import (
	"context"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
)

func newPauseCmd(f *ui.Factory) *cobra.Command {
	reason := ""
	cmd := &cobra.Command{
		Use:   "pause",
		Short: "Suspend automatic repairs and restarts",
		Long: ui.WithCodes(`Suspends everything automatic in the project: watch repairs nothing, and no restart policy starts
an agent. A repair in progress is completed. Running agents are left alone, and your commands
still work. The pause lasts across reboots. list, session and doctor show it, and watch still
reports what needs a person. Pausing again changes the reason.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Held, fail.Interrupted),
		Example: `  nbs-worker pause
  nbs-worker pause --reason 'moving the project to another disk'`,
		Args: ui.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ui.Failed(runPause(cmd.Context(), f, reason), "pause")
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why; shown wherever the pause is shown")
	return f.WithJSON(cmd)
}

func newUnpauseCmd(f *ui.Factory) *cobra.Command {
	return f.WithJSON(&cobra.Command{
		Use:   "unpause",
		Short: "End a pause",
		Long: ui.WithCodes(`Ends the pause of the project: watch repairs agents again, and launchers restart them.
The exit code is 0 even if there was no pause.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Held, fail.Interrupted),
		Example: `  nbs-worker unpause`,
		Args:    ui.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ui.Failed(runUnpause(cmd.Context(), f), "unpause")
		},
	})
}

func runPause(ctx context.Context, f *ui.Factory, reason string) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	pause, err := s.Pause(ctx, reason)
	if err != nil {
		return err
	}
	if f.JSON {
		return f.PrintJSON(wire.NewPause(&pause))
	}
	f.Note("paused: no automatic repairs or restarts until nbs-worker unpause")
	return nil
}

func runUnpause(ctx context.Context, f *ui.Factory) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	was, err := s.Unpause(ctx)
	if err != nil {
		return err
	}
	if f.JSON {
		return f.PrintJSON(wire.NewPause(nil))
	}
	if !was {
		f.Note("it was not paused")
	}
	return nil
}
