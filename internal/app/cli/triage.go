package cli

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/recovery"
	"nbs-worker/internal/team/triage"
)

func newTriageCmd(f *factory) *cobra.Command {
	patience := time.Duration(0)
	cmd := &cobra.Command{
		Use:   "triage [<handle>...]",
		Short: "Judge the health of agents, and say what each needs",
		Long: withCodes(`Judges the named agents, or all agents of the project. Prints for each the verdict, the
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
		ValidArgsFunction: f.handlesWhere(anybody),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runTriage(cmd.Context(), f, handlesOf(args), patience)
		},
	}
	cmd.Flags().DurationVar(&patience, "patience", recovery.DefaultPatience, "how long a busy agent may show no progress")
	return f.withJSON(cmd)
}

// handlesOrAll checks the handles, which are optional.
func handlesOrAll(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return someHandles(cmd, args)
}

func runTriage(ctx context.Context, f *factory, handles []agent.Handle, patience time.Duration) error {
	if patience <= 0 {
		return failed(fail.Errorf(fail.BadInput, "--patience %s is not a time", patience), "triage")
	}
	bands, err := contextBands()
	if err != nil {
		return failed(err, "triage")
	}
	s, err := f.supervisor()
	if err != nil {
		return failed(err, "triage")
	}
	if handles, err = recovery.Team(&s.Inspector, handles); err != nil {
		return failed(err, "triage")
	}
	patients := recovery.Assess(ctx, &s.Inspector, handles, recovery.Limits{Bands: bands, Patience: patience})
	if ctx.Err() != nil {
		return exitError(fail.Interrupted)
	}
	if err := f.printTriage(patients); err != nil {
		return failed(err, "triage")
	}
	return unwell(patients)
}

// unwell returns the outcome of a triage: exit code 0 if all are well.
func unwell(patients []recovery.Patient) error {
	code := exitError(0)
	for i := range patients {
		switch p := &patients[i]; {
		case p.NeedsPerson():
			return exitError(fail.Held)
		case !p.Verdict.IsWell():
			code = exitError(fail.Partial)
		}
	}
	if code == 0 {
		return nil
	}
	return code
}

func (f *factory) printTriage(patients []recovery.Patient) error {
	if f.json {
		return f.printJSON(agent.Mapped(patients, func(p recovery.Patient) wire.Assessment {
			return wire.NewAssessment(&p.Assessment, f.commandsFor(stepsOf(p)))
		}))
	}
	if len(patients) == 0 {
		f.note("no agents; start one: nbs-worker spawn HANDLE")
		return nil
	}
	t := f.newTable("HANDLE", "VERDICT", "LEVEL", "EVIDENCE", "COMMAND")
	t.under = 2
	for _, p := range patients {
		command := ""
		if commands := f.commandsFor(stepsOf(p)); len(commands) > 0 {
			command = commands[0]
		}
		t.row(text(string(p.Handle)), cell{text: string(p.Verdict), colour: verdictColour(&p.Assessment)}, text(strconv.Itoa(int(p.Level))),
			text(strings.Join(p.Evidence, "; ")), text(command))
	}
	return t.flush()
}

func stepsOf(p recovery.Patient) []step { return inWords(p.Steps, p.Handle, p.View) }

func verdictColour(a *triage.Assessment) string {
	switch {
	case a.Verdict == triage.Stopped:
		return plain
	case a.Verdict.IsWell():
		return green
	case a.NeedsPerson():
		return yellow
	default:
		return red
	}
}
