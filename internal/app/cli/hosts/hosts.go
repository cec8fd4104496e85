// Package hosts has the commands for the user's other machines, and runs the commands of other packages there.
package hosts

import (
	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
)

// Commands are the commands for hosts.
var Commands = []ui.Command{{Name: "host", Make: newHostCmd}}

func newHostCmd(f *ui.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "host",
		Short: "Use agents at other machines",
		Args:  ui.NoArguments,
		Long: `A host is another machine of yours with a project, reached by your own ssh. Its agents run there
by the rules of that machine, and go on when this one sleeps. alice@build1 is the agent alice at
the host build1, in each command that takes a handle; --host build1 runs any command there, and
--hosts shows what is here and at all hosts.`,
	}
	cmd.AddCommand(newServeCmd(f), newJobCmd(f), newResultCmd(f))
	return cmd
}
