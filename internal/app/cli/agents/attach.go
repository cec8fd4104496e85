package agents

import (
	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
)

func newAttachCmd(f *ui.Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "attach <handle>",
		Short: "Go to an agent's terminal",
		Long: ui.WithCodes(`Attaches this terminal to the agent's tmux session, or switches to it if this terminal is in
the same tmux server. tmux says there for some seconds which keys go back: usually C-b d, or C-b L
to the session that you came from. The agent keeps running. If it runs as a job of Slurm on another
machine, srun --overlap goes there.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held),
		Example:           `  nbs-worker attach theologian`,
		Args:              ui.OneHandle,
		ValidArgsFunction: ui.Once(f.HandlesWhere(ui.InTmux)),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.Supervisor()
			if err == nil {
				err = checkTerminal(f, "session "+args[0]+" --json")
			}
			if err == nil {
				err = s.Inspector.Attach(cmd.Context(), agent.Handle(args[0]))
			}
			return ui.Failed(err, "attach", args[0])
		},
	}
}

// checkTerminal refuses a call without a terminal, and names what a script calls instead.
func checkTerminal(f *ui.Factory, instead string) error {
	stream, isTerminal := "stdout", f.Streams.OutTTY
	if isTerminal {
		stream, isTerminal = "stdin", f.Streams.InTTY
	}
	if isTerminal {
		return nil
	}
	return fail.Errorf(fail.BadInput, "%s is not a terminal", stream).Hint("from a script: nbs-worker %s", instead)
}
