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
	o, patience := &ui.Selection{}, time.Duration(0)
	cmd := &cobra.Command{
		Use:   "triage [<handle>... | @GROUP...]",
		Short: "Judge the health of agents, and show what each needs",
		Long: ui.WithCodes(`Judges agents and prints for each the verdict, the level of repair that it needs, the evidence
and the command to run next. It changes nothing.

  healthy   it works, starts, or retries after an error of the API
  idle      it waits for a prompt
  stopped   it was ended on purpose
  stressed  it has little context left (25% or less; NBS_CONTEXT_BANDS)
  waiting   it asks a person: a permission, a question, a first-run dialog
  stuck     it is busy for longer than --patience without progress: no new
            output in its transcripts, tokens or hooks, and hardly any
            processor time while it is watched
  zombie    its process is suspended and does not react
  held      only a person can help: login, usage limit, an API error that
            ended its last turn, another claude in its conversation, a
            record that is not allowed, held restarts, repeated crashes, or
            unsent text in its prompt that blocks messages
  dead      it should run and does not; the cause is given
  missing   it has a record, but no start, folder or transcript
  unknown   a query got no answer; this does not mean dead

The levels are 0 look, 1 ping, 2 interrupt and compact, 3 resume, 4 new conversation. An agent
that only a person can help needs 0.

Details:

triage takes two seconds longer if an agent looks stuck. In a pipe the fields are separated by
tabs, without a header: handle, verdict, level, evidence, command. Exit code 8: an agent needs a
person. 7: none does, and some need a repair.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Partial, fail.Held, fail.Interrupted),
		Example: `  nbs-worker triage
  nbs-worker triage theologian
  nbs-worker triage --json | jq -r '.[] | select(.level > 0) | .command'
  nbs-worker triage --patience 30m`,
		Args:              o.Optional,
		ValidArgsFunction: f.SelectionWhere(ui.AnyAgent),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runTriage(cmd.Context(), f, o, patience)
		},
	}
	cmd.Flags().DurationVar(&patience, "patience", recovery.DefaultPatience, "how long a busy agent may show no progress")
	return f.WithJSON(cmd)
}

func runTriage(ctx context.Context, f *ui.Factory, o *ui.Selection, patience time.Duration) error {
	if patience <= 0 {
		return ui.Failed(fail.Errorf(fail.BadInput, "--patience %s must be more than 0", patience), "triage")
	}
	bands, err := ui.ContextBands()
	if err != nil {
		return ui.Failed(err, "triage")
	}
	s, err := f.Supervisor()
	if err != nil {
		return ui.Failed(err, "triage")
	}
	handles, err := o.Named(s)
	if err != nil {
		return ui.Failed(err, "triage")
	}
	if handles, err = recovery.Team(s.Inspector, handles); err != nil {
		return ui.Failed(err, "triage")
	}
	patients := recovery.Assess(ctx, s.Inspector, handles, recovery.Limits{Bands: bands, Patience: patience})
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
