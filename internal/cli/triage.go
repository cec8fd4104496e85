package cli

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/recovery"
	"nbs-worker/internal/triage"
	"nbs-worker/internal/wire"
)

func newTriageCmd(f *factory) *cobra.Command {
	patience := time.Duration(0)
	cmd := &cobra.Command{
		Use:   "triage [<handle>...]",
		Short: "Say how well agents are, and what each needs",
		Long: withCodes(`Looks at the named agents, or at all of the project, judges each, and says on what
evidence, which level of repair it needs, and the command to run next. It changes nothing.

  healthy   it works, starts, or tries again by itself after an error of the API
  idle      it waits for a prompt, and all is well
  stopped   it was ended on purpose
  stressed  little of its context is left (25% or less; NBS_CONTEXT_BANDS)
  waiting   it asks a person: a permission, a question, a first-run dialog
  stuck     busy for longer than --patience while nothing grows: not its transcript, nor
            that of a subagent, nor the tokens of its status line, no hook; and its
            processes use less than a tenth of a processor while they are watched
  zombie    its terminal takes keys, and its process is stopped and executes none of them
  held      only a person can help: nobody is logged in, a usage limit or an error of the
            API ended its last turn, another claude is in its conversation, its record is
            not allowed, or it crashed again and again
  dead      it should run and does not, with the cause
  missing   there is a record, and no start, folder or transcript to it
  unknown   a question was not answered; that is not dead

Levels, each of which takes more than the one before: 0 a look, 1 a ping, 2 interrupt and
compact, 3 resume, 4 a new conversation. An agent that only a person can help needs 0.

It takes a moment when there is nothing to suspect, and 2 seconds more when there is. In a
pipe, without header and separated by tabs: handle, verdict, level, evidence, command.
With 8 somebody needs a person; with 7 nobody does, and some need a repair.`,
			agent.Failed, agent.NotFound, agent.BadInput, agent.Partial, agent.Held, agent.Interrupted),
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
	cmd.Flags().DurationVar(&patience, "patience", recovery.DefaultPatience, "how long a busy agent may show nothing that grows")
	return f.withJSON(cmd)
}

// handlesOrAll checks handles that may be left out.
func handlesOrAll(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return someHandles(cmd, args)
}

func runTriage(ctx context.Context, f *factory, handles []agent.Handle, patience time.Duration) error {
	if patience <= 0 {
		return failed(agent.Errorf(agent.BadInput, "--patience %s is not a time", patience), "triage")
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
		return exitError(agent.Interrupted)
	}
	if err := f.printTriage(patients); err != nil {
		return failed(err, "triage")
	}
	return unwell(patients)
}

// unwell is the outcome of a triage: 0 when all are well.
func unwell(patients []recovery.Patient) error {
	code := exitError(0)
	for i := range patients {
		switch p := &patients[i]; {
		case p.NeedsPerson():
			return exitError(agent.Held)
		case !p.Verdict.IsWell():
			code = exitError(agent.Partial)
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
