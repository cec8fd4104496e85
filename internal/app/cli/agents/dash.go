package agents

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/dash"
	"nbs-worker/internal/fail"
)

func newDashCmd(f *ui.Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "dash",
		Short: "Watch all agents on one screen",
		Long: ui.WithCodes(`Shows the agents on the full screen, those that need you first: what each asks, how long it has
waited, its context and cost. The screen changes when an agent does. Enter goes to an agent's
terminal, and the tmux prefix and d come back. Space shows its screen, y and N approve or deny
the request that is shown, s sends a message, r resumes, x stops, ? lists all keys, q leaves.

A verb runs beside the screen; its last words are in the last line.

From a script: nbs-worker list --json, or nbs-worker wait.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Unfit, fail.Interrupted),
		Example: `  nbs-worker dash`,
		Args:    ui.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ui.Failed(runDash(cmd.Context(), f), "dash")
		},
	}
}

func runDash(ctx context.Context, f *ui.Factory) error {
	bands, err := ui.ContextBands()
	if err != nil {
		return err
	}
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	if !f.Streams.InTTY || !f.Streams.OutTTY {
		return fail.Errorf(fail.BadInput, "this is not a terminal").Hint("from a script: nbs-worker list --json")
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	source, err := dash.Follow(s.Inspector, bands, ui.PlanLimits)
	if err != nil {
		return err
	}
	defer source.Close()
	global := []string{"--root=" + s.Project.Store.Project()}
	if f.Socket != "" {
		global = append(global, "--tmux-socket="+f.Socket)
	}
	return dash.Show(ctx, source, dash.Options{Program: program, Global: global, Color: f.Streams.Color})
}
