package hosts

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host/link"
	"nbs-worker/internal/host/setup"
)

func newEnableCmd(f *ui.Factory) *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use:   "enable NAME",
		Short: "Have a host keep its agents without a login",
		Long: ui.WithCodes(`Gives the agents of a host to its systemd, as nbs-worker export systemd describes: the agents' tmux
server, recover --all at boot, watch and serve become services of your user there, which run from
boot and outlive each login (loginctl enable-linger). A reboot of the host then brings all agents
back into their conversations. On a Mac they become LaunchAgents, as nbs-worker export launchd
describes: they run from each login at its screen. That was built, not run on a Mac.

enable shows the commands that it will run there, and asks. Done again, it renews the units. To undo
it, there: systemctl --user disable --now with the names of the units; on a Mac, launchctl bootout.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Unfit, fail.Held, fail.Interrupted),
		Example: `  nbs-worker host enable build1`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fail.Errorf(fail.BadInput, "host enable: one name is needed, %d given", len(args)).Hint("to see your hosts: nbs-worker host list")
			}
			return nil
		},
		ValidArgsFunction: ui.Once(f.CompleteHosts),
		RunE: func(cmd *cobra.Command, args []string) error {
			return ui.Failed(runEnable(cmd.Context(), f, args[0], yes), "host enable", args[0])
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func runEnable(ctx context.Context, f *ui.Factory, name string, yes bool) error {
	if err := f.CheckPerson("enable a host"); err != nil {
		return err
	}
	all, err := theHosts([]string{name})
	if err != nil {
		return err
	}
	answered := link.Later(func(text string) { f.Note("%s", text) }, "waiting for "+name)
	services, err := setup.ServicesOf(ctx, all[0])
	answered()
	if err != nil {
		return err
	}
	f.Line("on " + name + ", this will run:")
	for _, command := range services.Commands() {
		f.Line("  " + command)
	}
	if err := confirmed(ctx, f, yes, fmt.Sprintf("enable %s? [y/N] ", name), "nbs-worker host enable "+name+" --yes"); err != nil {
		return err
	}
	if err := services.Enable(ctx); err != nil {
		return err
	}
	return f.Show(ui.Outcome{Handle: agent.Handle(name), Words: services.Outcome()}, "")
}
