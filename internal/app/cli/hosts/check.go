package hosts

import (
	"context"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/host/link"
	"nbs-worker/internal/host/setup"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/doctor"
)

func newCheckCmd(f *ui.Factory) *cobra.Command {
	return f.WithJSON(&cobra.Command{
		Use:   "check [NAME...]",
		Short: "Check what agents at a host need",
		Long: ui.WithCodes(`Checks hosts, or all of them: whether ssh gets there and why not, nbs-worker there and its
version, the clock, whether agents come back after a reboot and outlive a logout, claude and its
login, tmux, the project's folder and its disk. Each line says ok, or what is wrong and the command
that mends it. It changes nothing.

The hosts are checked at the same time, each for at most a minute. Doctor checks the agents of a
host: nbs-worker doctor --host NAME.

check ends with 0 if there is nothing worse than a note, with 6 if something that nbs-worker needs
is missing, otherwise with 1.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Unfit, fail.Held, fail.Interrupted),
		Example: `  nbs-worker host check build1
  nbs-worker host check --json | jq '.[]|select(.level!="ok").host'`,
		ValidArgsFunction: f.CompleteHosts,
		RunE:              func(cmd *cobra.Command, args []string) error { return runCheck(cmd.Context(), f, args) },
	})
}

func runCheck(ctx context.Context, f *ui.Factory, names []string) error {
	err := f.CheckPerson("check a host")
	var all host.Hosts
	if err == nil {
		all, err = theHosts(names)
	}
	if err != nil {
		return ui.Failed(err, "host check")
	}
	f.Root, f.Socket = "", "" // the commands that mend act on the host's own project
	if len(all) == 0 {
		return ui.Failed(fail.Errorf(fail.NotFound, "you have no hosts").Hint("to add one: nbs-worker host add NAME DESTINATION"), "host check")
	}
	here := setup.Here{Version: f.Version, Now: f.Now}
	checkups, errs := make([]wire.HostCheckup, len(all)), make([]error, len(all))
	var together doctor.Checkup
	var printing sync.Mutex
	var checks sync.WaitGroup
	for i, h := range all {
		checks.Go(func() {
			answered := link.Later(func(text string) {
				printing.Lock()
				defer printing.Unlock()
				f.Note("%s", text)
			}, "waiting for "+h.Name)
			checkup, err := setup.Check(ctx, h, here)
			answered()
			printing.Lock()
			defer printing.Unlock()
			if err == nil && !f.JSON {
				err = printCheckup(f, h, checkup)
			}
			checkups[i], errs[i] = wire.NewHostCheckup(h, checkup), err
			together.Findings = append(together.Findings, checkup.Findings...)
		})
	}
	checks.Wait()
	for _, err := range errs {
		if err != nil {
			return ui.Looked(err, "host check")
		}
	}
	if f.JSON {
		if err := f.PrintJSON(checkups); err != nil {
			return ui.Failed(err, "host check")
		}
	}
	return ui.OfCheckup(together)
}

func printCheckup(f *ui.Factory, h host.Host, checkup doctor.Checkup) error {
	if _, err := fmt.Fprintln(f.Streams.Out, human.Legible(h.Name+", "+h.Destination)); err != nil {
		return err
	}
	return f.PrintCheckup(checkup, true, "")
}
