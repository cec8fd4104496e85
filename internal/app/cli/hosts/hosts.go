// Package hosts has the commands for the user's other machines, and runs the commands of other packages there.
package hosts

import (
	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Commands are the commands for hosts.
var Commands = []ui.Command{
	{Name: "host", Make: newHostCmd},
	{Name: "move", Make: newMoveCmd},
}

func newHostCmd(f *ui.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "host",
		Short: "Use agents at other machines",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return fail.Errorf(fail.BadInput, "unknown command host %s", human.Quote(args[0])).Hint("nbs-worker host --help")
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Example: `  nbs-worker host add build1 build1.example.org
  nbs-worker host check build1
  nbs-worker host enable build1`,
		Long: ui.WithCodes(`A host is another machine of yours with a project, reached by your own ssh. Its agents run there
by the rules of that machine, and go on when this one sleeps. alice@build1 is the agent alice at
the host build1, in each command that takes a handle; --host build1 runs a command there, and
--hosts shows what is here and at all hosts.

The hosts are in ~/.config/nbs-worker/hosts.yaml, which host add writes and you may edit:

  version: 1
  hosts:
    build1:
      destination: me@build1.example.org    # as ssh takes it
      folder: src/app                       # below the home folder there
      program: /opt/nbs-worker              # if it is not in the PATH
      limits: {agents: 20, running: 4}      # of what you start from here`,
			fail.Failed, fail.BadInput),
	}
	cmd.AddCommand(newAddCmd(f), newListCmd(f), newCheckCmd(f), newEnableCmd(f), newRemoveCmd(f), newFactsCmd(f), newServeCmd(f), newJobCmd(f), newResultCmd(f))
	cmd.AddCommand(newGiveCmd(f), newTakeCmd(f), newLeaveCmd(f), newArriveCmd(f))
	return cmd
}
