package agents

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/inspect"
)

func newScreenCmd(f *ui.Factory) *cobra.Command {
	return f.WithJSON(&cobra.Command{
		Use:   "screen <handle>",
		Short: "Print an agent's screen",
		Long: ui.WithCodes(`Prints what the agent's terminal shows, as plain text. Control characters are shown as
question marks, invisible characters as numbers. --json adds the size and what nbs-worker reads
from the screen: state, dialog, attempt and wait of a retry, or why the last turn failed. The
state is "unknown" if the screen does not show it; session knows it better, from Claude's
registry.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Unfit, fail.Held, fail.Interrupted),
		Example: `  nbs-worker screen theologian
  nbs-worker screen theologian | tail -20
  nbs-worker screen theologian --json | jq -r .reading.dialog`,
		Args:              ui.OneHandle,
		ValidArgsFunction: ui.Once(f.HandlesWhere(ui.InTmux)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return ui.Failed(runScreen(cmd.Context(), f, agent.Handle(args[0])), "screen", args[0])
		},
	})
}

func runScreen(ctx context.Context, f *ui.Factory, handle agent.Handle) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	at, shown := s.Project.Now(), wire.Screen{}
	if job := s.Project.JobElsewhereOf(ctx, handle); job != nil {
		err = ui.AtNode(ctx, s.Project, *job, &shown, "screen", string(handle))
	} else {
		var shot inspect.Shot
		shot, err = s.Inspector.Screen(ctx, handle)
		at, shown = shot.At, wire.NewScreen(handle, shot)
	}
	if err != nil {
		return err
	}
	ui.NoteLook(ctx, s, at, handle)
	if f.JSON {
		return f.PrintJSON(shown)
	}
	_, err = io.WriteString(f.Streams.Out, human.Legible(shown.Text))
	return err
}

// runLastScreen prints the last screen of an ended agent, made safe: programs have drawn it, and a tool that reads the
// record would send it to the terminal unchanged.
func runLastScreen(f *ui.Factory, o *ui.Selection, args []string) error {
	if len(args) != 1 || o.Several() {
		return fail.Errorf(fail.BadInput, "session: --last-screen takes one handle, %d given", len(args)).
			Hint("nbs-worker session %s --last-screen", args[0])
	}
	s, err := f.Supervisor()
	if err != nil {
		return ui.Failed(err, "session", args[0])
	}
	r, err := s.Project.Store.Load(agent.Handle(args[0]))
	if err != nil {
		return ui.Failed(err, "session", args[0])
	}
	exit := r.LastExit()
	if exit == nil || strings.TrimSpace(exit.LastScreen) == "" {
		return ui.Failed(fail.Errorf(fail.NotFound, "no last screen is recorded").
			Hint("what is on its screen now: nbs-worker screen %s", r.Handle).
			Hint("how its last start ended: nbs-worker session %s", r.Handle), "session", args[0])
	}
	_, err = io.WriteString(f.Streams.Out, human.Legible(strings.TrimRight(exit.LastScreen, "\n")+"\n"))
	return ui.Failed(err, "session", args[0])
}
