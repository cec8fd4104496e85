package hosts

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host/link"
	"nbs-worker/internal/host/setup"
	"nbs-worker/internal/platform/export"
	"nbs-worker/internal/team/doctor"
)

func newFactsCmd(f *ui.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "facts DIR", Short: "Say how this machine is (asked by the nbs-worker of another one)", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return ui.Failed(runFacts(cmd.Context(), f, args[0]), "host facts")
		},
	}
}

// runFacts prints the facts of this machine, and of the project in a folder of it.
func runFacts(ctx context.Context, f *ui.Factory, dir string) error {
	facts := setup.Facts{Version: f.Version, Protocol: link.Protocol, System: f.Machine.System()}
	if err := examine(ctx, f, dir, &facts); err != nil {
		return err
	}
	facts.Time = f.Now()
	return f.PrintJSON(facts)
}

// examine checks the machine, and the project in a folder of it. A project that cannot be opened is a finding.
func examine(ctx context.Context, f *ui.Factory, dir string, facts *setup.Facts) error {
	checked, noFolder := setup.Checked(), ""
	if err := os.Chdir(dir); err != nil {
		checked, noFolder = setup.CheckedOfMachine(), err.Error()
	}
	s, how, err := f.OpenToExamine()
	if err != nil {
		return err
	}
	const patience = 15 * time.Second // another machine waits
	how.Only, how.Patience = checked, patience
	checkup, err := doctor.Examine(ctx, s, how)
	if err != nil {
		return err
	}
	facts.Findings = checkup.Findings
	if noFolder != "" {
		facts.Findings = append([]doctor.Finding{{
			Check: "folder.project", Level: doctor.Failure, What: "the folder of the project cannot be entered: " + noFolder,
			Why: "no verb works there", Fix: []string{"make it, or name another one: mkdir -p " + ui.ShellQuote(dir)},
		}}, facts.Findings...)
		return nil
	}
	facts.Root = s.Project.Store.Project()
	units, err := ui.Team(s.Project)
	if err != nil && fail.KindOf(err) != fail.Unfit { // no tmux: that is a finding of doctor
		return err
	}
	units.Project = facts.Root
	var comesBack doctor.Finding
	if f.Machine.IsMac() {
		comesBack = setup.AtLogin(ctx, units.RecoverName())
	} else {
		comesBack = setup.AtBoot(ctx, units.RecoverName()+export.Service)
	}
	facts.Findings = append([]doctor.Finding{comesBack}, facts.Findings...)
	return nil
}
