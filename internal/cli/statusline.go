package cli

import (
	"github.com/spf13/cobra"

	"nbs-worker/internal/report"
)

func newStatusLineCmd(f *factory) *cobra.Command {
	return &cobra.Command{
		Use:   "statusline",
		Short: "Take down what an agent's claude says to its status line",
		Long: withCodes(`Claude calls this itself, with JSON on stdin: it is the status line of each agent. How
full the conversation is and what it cost is kept in .nbs/status/<handle>.json. Then the
status line that you have configured yourself, if any, is run with the same input for at
most five seconds, and its output is shown. It is looked for in the folder that the record
names and in the configuration of the recorded claude, and not in a file that other users
can write, nor in one that the agent was told to leave out with --setting-sources. For a
caller that is no recorded agent nothing is run. It always succeeds; what fails is in the
journal.`),
		Example: `  nbs-worker statusline < payload.json`,
		Hidden:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			line, err := report.ReadStatusLine(f.streams.In)
			record, recorded := f.takeDown(cmd.Context(), cmd.Name(), line.Report, err)
			if recorded {
				line.RunUsers(cmd.Context(), &record, f.streams.Out)
			}
			return nil
		},
	}
}
