package ops

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/doctor"
	"nbs-worker/internal/team/supervisor"
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
	s, how, err := openToExamine(f)
	if err != nil {
		return ui.Failed(err, "doctor")
	}
	how.Fix, how.Probe = opts.fix, opts.probe
	checkup, err := doctor.Examine(ctx, s, how)
	if err == nil {
		err = f.ShowOne(ui.Outcome{JSON: wire.NewCheckup(checkup), Print: func() error { return printCheckup(f, checkup, opts) }})
	}
	switch {
	case err != nil:
		return ui.Looked(err, "doctor")
	case checkup.Unfit():
		return ui.ExitError(fail.Unfit)
	case checkup.Worst().Worse(doctor.Note) || len(checkup.Failed) > 0:
		return ui.ExitError(fail.Failed)
	}
	return nil
}

// openToExamine opens the project for doctor. If it cannot be opened, that is a finding and no error.
func openToExamine(f *ui.Factory) (*supervisor.Supervisor, doctor.Options, error) {
	bands, err := ui.ContextBands()
	if err != nil {
		return nil, doctor.Options{}, err
	}
	how := doctor.Options{Bands: bands, Version: ui.VersionLine(f.Version)}
	s, err := f.Planner()
	if err == nil {
		return s, how, nil
	}
	root, notThere := f.Founding()
	if notThere != nil {
		return nil, how, notThere
	}
	how.ProjectErr = err
	s, absent := f.On(store.Absent(root), nil)
	return s, how, absent
}

var groupTitles = map[string]string{
	"claude": "Claude Code", "tmux": "tmux", "folder": "Project folder", "logout": "Logout", "team": "Agents",
	"left": "Journal", "environment": "Environment", "start": "First start", "conversations": "Conversations",
}

// printCheckup prints the problems by group, and counts the other checks.
func printCheckup(f *ui.Factory, checkup doctor.Checkup, opts doctorOptions) error {
	var b strings.Builder
	shown := ""
	for _, finding := range checkup.Findings {
		if finding.Level == doctor.Holds && !opts.all {
			continue
		}
		group, _, _ := strings.Cut(finding.Check, ".")
		if group != shown {
			fmt.Fprintf(&b, "%s\n", groupTitles[group])
			shown = group
		}
		writeFinding(f, &b, finding)
	}
	for _, done := range checkup.Done {
		fmt.Fprintf(&b, "fixed: %s\n", human.Legible(done))
	}
	for _, err := range checkup.Failed {
		fmt.Fprintf(&b, "not fixed: %s\n", ui.Indented(human.Legible(err.Error())))
	}
	if opts.fix {
		fmt.Fprintf(&b, "never touched: %s\n", strings.Join(doctor.NeverTouched, "; "))
	}
	fmt.Fprintln(&b, summary(checkup))
	_, err := fmt.Fprint(f.Streams.Out, b.String())
	return err
}

func writeFinding(f *ui.Factory, b *strings.Builder, finding doctor.Finding) {
	const margin = 11 // columns
	words := func(text string) string {
		lines := strings.Split(ui.Indented(human.Legible(text)), "\n")
		return strings.Join(agent.Mapped(lines, func(line string) string { return ui.Hanging(line, margin, f.Streams.Width) }), "\n")
	}
	fmt.Fprintf(b, "  %s %s\n", f.Coloured(levelColours[finding.Level], fmt.Sprintf("%-8s", finding.Level)), words(finding.What))
	if finding.Why != "" {
		fmt.Fprintf(b, "           %s\n", words(finding.Why))
	}
	for _, fix := range finding.Fix { // a command is not wrapped: it is for pasting
		fmt.Fprintf(b, "           %s\n", ui.Indented(human.Legible(f.Pasteable("fix: "+fix))))
	}
}

var levelColours = map[doctor.Level]string{doctor.Holds: ui.Green, doctor.Note: ui.Plain, doctor.Warning: ui.Yellow, doctor.Failure: ui.Red}

// summary counts the checks by their worst finding.
func summary(checkup doctor.Checkup) string {
	worst := map[string]doctor.Level{}
	for _, finding := range checkup.Findings {
		if now, seen := worst[finding.Check]; !seen || finding.Level.Worse(now) {
			worst[finding.Check] = finding.Level
		}
	}
	found := map[doctor.Level]int{}
	for _, level := range worst {
		found[level]++
	}
	parts := []string{fmt.Sprintf("%s: %d ok", human.Count(len(worst), "check"), found[doctor.Holds])}
	for _, level := range []doctor.Level{doctor.Note, doctor.Warning, doctor.Failure} {
		if n := found[level]; n > 0 {
			parts = append(parts, human.Count(n, string(level)))
		}
	}
	return strings.Join(parts, ", ")
}
