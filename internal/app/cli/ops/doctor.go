package ops

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/doctor"
)

type doctorOptions struct{ fix, probe, all bool }

func newDoctorCmd(f *ui.Factory) *cobra.Command {
	var opts doctorOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check everything that nbs-worker relies on",
		Long: ui.WithCodes(`Checks claude and tmux, the project folder and its disk, whether agents survive a logout,
transcripts, claudes without a record, the journal and the environment, and names the agents
that are not well. Each finding has the reason and the command that fixes it. A note means that
nothing is wrong, a warning that something may be lost or fail later, a failure that something
nbs-worker needs is missing.

doctor changes nothing. --probe also starts a claude, without account or network, and checks
its files and hooks. --fix fixes what cannot lose anything: it removes other users' access to
your files in .nbs, and updates a record when the conversation changed inside claude.

doctor ends with 0 if there is nothing worse than a note, with 6 if claude or tmux is missing or
unfit, otherwise with 1.`,
			fail.Failed, fail.BadInput, fail.Unfit, fail.Held, fail.Interrupted),
		Example: `  nbs-worker doctor
  nbs-worker doctor --fix
  nbs-worker doctor --probe --all
  nbs-worker doctor --json | jq '.checks[]|select(.level=="failure")'`,
		Args: ui.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), f, opts) },
	}
	cmd.Flags().BoolVar(&opts.fix, "fix", false, "fix what can be fixed without losing anything")
	cmd.Flags().BoolVar(&opts.probe, "probe", false, "also start a claude in a scratch folder; takes seconds")
	cmd.Flags().BoolVar(&opts.all, "all", false, "also show the checks that found nothing wrong")
	return f.WithJSON(cmd)
}

func runDoctor(ctx context.Context, f *ui.Factory, opts doctorOptions) error {
	s, how, err := f.OpenToExamine()
	if err != nil {
		return ui.Failed(err, "doctor")
	}
	how.Fix, how.Probe = opts.fix, opts.probe
	checkup, err := doctor.Examine(ctx, s, how)
	if err == nil {
		err = f.ShowOne(ui.Outcome{JSON: wire.NewCheckup(checkup), Print: func() error { return printCheckup(f, checkup, opts) }})
	}
	if err != nil {
		return ui.Looked(err, "doctor")
	}
	return ui.OfCheckup(checkup)
}

// printCheckup prints the problems by group, counts the other checks, and says what --fix did.
func printCheckup(f *ui.Factory, checkup doctor.Checkup, opts doctorOptions) error {
	never := ""
	if opts.fix {
		never = "never touched: " + strings.Join(doctor.NeverTouched, "; ")
	}
	return f.PrintCheckup(checkup, opts.all, never)
}
