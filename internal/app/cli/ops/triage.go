package ops

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/recovery"
	"nbs-worker/internal/team/triage"
)

func newTriageCmd(f *ui.Factory) *cobra.Command {
	patience := time.Duration(0)
	cmd := &cobra.Command{
		Use:   "triage [<handle>...]",
		Short: "Judge the health of agents, and say what each needs",
		Long: ui.WithCodes(`Judges the named agents, or all agents of the project. Prints for each the verdict, the
level of repair that it needs, the evidence, and the command to run next. Changes nothing.

  healthy   it works, starts, or retries by itself after an error of the API
  idle      it waits for a prompt, and all is well
  stopped   it was ended on purpose
  stressed  it has little context left (25% or less; NBS_CONTEXT_BANDS)
  waiting   it asks a person: a permission, a question, a first-run dialog
  stuck     it is busy for longer than --patience without progress: its transcript, those
            of its subagents and the tokens of its status line do not grow, no hook reports;
            and its processes use less than a tenth of a processor while they are watched
  zombie    its terminal takes keys, but its process is stopped and executes none of them
  held      only a person can help: nobody is logged in, a usage limit or an error of the
            API ended its last turn, another claude is in its conversation, its record is
            not allowed, it crashed again and again, or a person's unsent draft in its
            prompt blocks messages
  dead      it should run and does not; the cause is given
  missing   it has a record, but no start, folder or transcript
  unknown   a query was not answered; this does not mean dead

The levels, each more drastic than the one before: 0 look, 1 ping, 2 interrupt and compact,
3 resume, 4 new conversation. An agent that only a person can help needs 0.

triage takes a moment when nothing is suspect, and 2 seconds more otherwise. Output in a
pipe has no header and is separated by tabs: handle, verdict, level, evidence, command.
Exit code 8: some agent needs a person. 7: none does, and some need a repair.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Partial, fail.Held, fail.Interrupted),
		Example: `  nbs-worker triage
  nbs-worker triage theologian
  nbs-worker triage --json | jq -r '.[] | select(.level > 0) | .command'
  nbs-worker triage --patience 30m`,
		Args:              handlesOrAll,
		ValidArgsFunction: f.HandlesWhere(ui.AnyAgent),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runTriage(cmd.Context(), f, ui.HandlesOf(args), patience)
		},
	}
	cmd.Flags().DurationVar(&patience, "patience", recovery.DefaultPatience, "how long a busy agent may show no progress")
	return f.WithJSON(cmd)
}

// handlesOrAll checks the handles, which are optional.
func handlesOrAll(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return ui.SomeHandles(cmd, args)
}

func runTriage(ctx context.Context, f *ui.Factory, handles []agent.Handle, patience time.Duration) error {
	if patience <= 0 {
		return ui.Failed(fail.Errorf(fail.BadInput, "--patience %s is not a time", patience), "triage")
	}
	bands, err := ui.ContextBands()
	if err != nil {
		return ui.Failed(err, "triage")
	}
	s, err := f.Supervisor()
	if err != nil {
		return ui.Failed(err, "triage")
	}
	if handles, err = recovery.Team(&s.Inspector, handles); err != nil {
		return ui.Failed(err, "triage")
	}
	patients := recovery.Assess(ctx, &s.Inspector, handles, recovery.Limits{Bands: bands, Patience: patience})
	if ctx.Err() != nil {
		return ui.ExitError(fail.Interrupted)
	}
	if err := printTriage(f, patients); err != nil {
		return ui.Failed(err, "triage")
	}
	return unwell(patients)
}

// unwell returns the outcome of a triage: exit code 0 if all are well.
func unwell(patients []recovery.Patient) error {
	code := ui.ExitError(0)
	for i := range patients {
		switch p := &patients[i]; {
		case p.NeedsPerson():
			return ui.ExitError(fail.Held)
		case !p.Verdict.IsWell():
			code = ui.ExitError(fail.Partial)
		}
	}
	if code == 0 {
		return nil
	}
	return code
}

func printTriage(f *ui.Factory, patients []recovery.Patient) error {
	if f.JSON {
		return f.PrintJSON(agent.Mapped(patients, func(p recovery.Patient) wire.Assessment {
			return wire.NewAssessment(&p.Assessment, f.CommandsFor(stepsOf(p)))
		}))
	}
	if len(patients) == 0 {
		f.Note("no agents; start one: nbs-worker spawn HANDLE")
		return nil
	}
	t := f.NewTable("HANDLE", "VERDICT", "LEVEL", "EVIDENCE", "COMMAND")
	t.Under = 2
	for _, p := range patients {
		command := ""
		if commands := f.CommandsFor(stepsOf(p)); len(commands) > 0 {
			command = commands[0]
		}
		t.Row(ui.Text(string(p.Handle)), ui.Cell{Text: string(p.Verdict), Colour: verdictColour(&p.Assessment)}, ui.Text(strconv.Itoa(int(p.Level))),
			ui.Text(strings.Join(p.Evidence, "; ")), ui.Text(command))
	}
	return t.Flush()
}

func stepsOf(p recovery.Patient) []ui.Step { return ui.InWords(p.Steps, p.Handle, p.View) }

func verdictColour(a *triage.Assessment) string {
	switch {
	case a.Verdict == triage.Stopped:
		return ui.Plain
	case a.Verdict.IsWell():
		return ui.Green
	case a.NeedsPerson():
		return ui.Yellow
	default:
		return ui.Red
	}
}
