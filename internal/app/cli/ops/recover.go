package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/recovery"
	"nbs-worker/internal/team/triage"
)

type recoverOptions struct {
	ui.Selection

	order    []string
	maxLevel int
	stagger  time.Duration
	giveUp   int
	patience time.Duration
	dryRun   bool
}

func newRecoverCmd(f *ui.Factory) *cobra.Command {
	o := &recoverOptions{}
	cmd := &cobra.Command{
		Use:   "recover {<handle>... | @GROUP... | --all} [flags]",
		Short: "Repair agents, each with the mildest step that works",
		Long: ui.WithCodes(`Judges agents as triage does, and repairs those that need it, one at a time, starting with the
mildest level that may help. After a reboot or an unattended night, recover --all is all you
need. A repair counts only if the agent is seen to be well afterwards.

  1  ping     watches a stuck or zombie agent for up to 15 seconds, to see
              whether it reacts. No key is pressed, since Enter could
              answer a dialog.
  2  compact  interrupts a stuck agent, and compacts the conversation if
              little context is left; not at the floor, and not if
              compacting has not helped before
  3  resume   starts the agent again: same conversation, model and
              permissions. First it ends the process of a stuck or zombie
              agent, and what the last start left
  4  new      starts a new conversation if the old one is full or gone, as
              resume --fresh --brief does. Only with --yes; otherwise
              recover reports the need

recover never touches an agent that works. An agent that only a person can help is reported.

Details:

An agent whose restarts are held, or that keeps crashing, is resumed only if you name it. recover
skips an agent that another command works on, or that its launcher will start again.

Each step is in the journal before and after it is taken. If recover was killed, run it again: it
continues where it stopped. The run ends if claude is not logged in, or after --give-up failed
starts in a row.

In a pipe the fields are separated by tabs, without a header: handle, verdict before, steps,
verdict after, and why nothing more was done. Exit code 8: an agent needs a person. 7: none does,
and some are not well. 1: none is well.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Partial, fail.Held, fail.Interrupted),
		Annotations: ui.Usual("all dry-run max-level yes"),
		Example: `  nbs-worker recover --all              # after a reboot, or in the morning
  nbs-worker recover --all --dry-run
  nbs-worker recover theologian --yes   # also in a new conversation
  nbs-worker recover --all --json | jq -r '.[]|select(.left).handle'`,
		Args:              o.Positional,
		ValidArgsFunction: f.SelectionWhere(ui.AnyAgent),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runRecover(cmd.Context(), f, o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.All, "all", false, "all agents of the project that should run")
	flags.BoolVar(&o.dryRun, "dry-run", false, "print what would be done, and change nothing")
	flags.IntVar(&o.maxLevel, "max-level", int(triage.LevelFresh), "try no level above this one: 0 to 4")
	flags.StringSliceVar(&o.order, "order", nil, "agents to repair first, separated by commas")
	flags.DurationVar(&o.stagger, "stagger", 5*time.Second, "time between two starts")
	flags.IntVar(&o.giveUp, "give-up", 3, "give up after this many failed starts in a row; 0: never")
	flags.DurationVar(&o.patience, "patience", recovery.DefaultPatience, "how long a busy agent may show no progress")
	flags.BoolVarP(&o.Yes, "yes", "y", false, "allow a new conversation if nothing else helps")
	f.WithJSON(cmd)
	ui.CompleteWith(cmd, "order", f.HandlesWhere(ui.AnyAgent))
	return cmd
}

func runRecover(ctx context.Context, f *ui.Factory, o *recoverOptions) error {
	if err := o.check(); err != nil {
		return ui.Failed(err, "recover")
	}
	bands, err := ui.ContextBands()
	if err != nil {
		return ui.Failed(err, "recover")
	}
	s, err := f.Supervisor()
	if err != nil {
		return ui.Failed(err, "recover")
	}
	f.NotePause(s)
	handles, err := o.Resolve(ctx, s, func(row inspect.Row) bool { return row.Record.LaunchDesired() == agent.DesiredRunning })
	if err == nil && !o.All {
		handles, err = recovery.Team(s.Inspector, handles)
	}
	if err != nil {
		return ui.Failed(err, "recover")
	}
	if o.All {
		f.NoteStopped(&o.Selection)
	}
	noteOrder(f, handles, o.order)
	ladder := recovery.New(s, recovery.Limits{Bands: bands, Patience: o.patience}, "recover", func(handle agent.Handle, what string) { f.Progress(handle)(what) })
	options := recovery.Options{
		Handles: inOrder(handles, o.order), Named: !o.All, MaxLevel: triage.Level(o.maxLevel), Fresh: o.Yes, Stagger: o.stagger, GiveUp: o.giveUp,
		Progress: func(c *recovery.Case) { showStep(f, c) },
	}
	if o.dryRun {
		return ui.Failed(printRecoveryPlan(f, ladder, ladder.Plan(ctx, options), options), "recover")
	}
	report, err := ladder.Run(ctx, options)
	if err != nil && !errors.Is(err, context.Canceled) {
		return ui.Failed(err, "recover")
	}
	if err := printRecovery(f, report.Cases); err != nil {
		return ui.Failed(err, "recover")
	}
	if report.Stopped != "" {
		f.Say("recover: stopped early: %s", report.Stopped)
	}
	if err != nil {
		return ui.ExitError(fail.Interrupted)
	}
	return recovered(report.Cases)
}

func (o *recoverOptions) check() error {
	switch {
	case o.maxLevel < 0 || o.maxLevel > int(triage.LevelFresh):
		return fail.Errorf(fail.BadInput, "--max-level %d is not a level from 0 to 4", o.maxLevel)
	case o.stagger < 0:
		return fail.Errorf(fail.BadInput, "--stagger %s is negative", o.stagger)
	case o.giveUp < 0:
		return fail.Errorf(fail.BadInput, "--give-up %d is negative", o.giveUp).Hint("0 never gives up")
	case o.patience <= 0:
		return fail.Errorf(fail.BadInput, "--patience %s must be more than 0", o.patience)
	}
	for _, name := range o.order {
		if _, err := agent.ParseHandle(name); err != nil {
			return fail.Errorf(fail.BadInput, "--order: %w", err)
		}
	}
	return nil
}

// inOrder moves the handles that --order names to the front, in its order.
func inOrder(handles []agent.Handle, first []string) []agent.Handle {
	place := func(handle agent.Handle) int {
		i := slices.IndexFunc(first, func(name string) bool { return handle.Same(agent.Handle(name)) })
		if i < 0 {
			return len(first)
		}
		return i
	}
	ordered := slices.Clone(handles)
	slices.SortStableFunc(ordered, func(a, b agent.Handle) int { return place(a) - place(b) })
	return ordered
}

// noteOrder notes the names in --order that match no agent of this run: one may be misspelt.
func noteOrder(f *ui.Factory, handles []agent.Handle, first []string) {
	for _, name := range first {
		if !slices.ContainsFunc(handles, agent.Handle(name).Same) {
			f.SayNote("--order: " + name + " is ignored: it is not among these agents")
		}
	}
}

// recovered returns the error with the exit code of a run.
func recovered(cases []recovery.Case) error {
	var well, heal, sick int
	for i := range cases {
		switch after := &cases[i].After; {
		case cases[i].Held || after.NeedsPerson():
			return ui.ExitError(fail.Held)
		case after.Verdict.IsWell():
			well++
		case after.Heals():
			heal++
		default:
			sick++
		}
	}
	switch {
	case sick == 0 && heal == 0:
		return nil
	case well == 0 && heal == 0:
		return ui.ExitError(fail.Failed)
	default:
		return ui.ExitError(fail.Partial)
	}
}

// showStep shows a step and its result to a person at a terminal.
func showStep(f *ui.Factory, c *recovery.Case) {
	s := c.Steps[len(c.Steps)-1]
	if s.Result == "" {
		f.Note("%s: %s, because it is %s", c.Handle, s.Level, s.Why)
		return
	}
	f.Note("%s: %s: %s", c.Handle, stepWords(s), s.Result)
}

func stepWords(s recovery.Step) string {
	became := "helped"
	if !s.Helped {
		became = "did not help"
	}
	return fmt.Sprintf("%s %s (%s)", s.Level, became, s.Took.Round(100*time.Millisecond))
}

func printRecovery(f *ui.Factory, cases []recovery.Case) error {
	if f.JSON {
		return f.PrintJSON(agent.Mapped(cases, func(c recovery.Case) wire.Recovered {
			return wire.NewRecovered(&c, f.CommandsFor(stepsOf(c.After)))
		}))
	}
	t := f.NewTable("HANDLE", "WAS", "DONE", "IS", "LEFT")
	t.Under = 1
	for i := range cases {
		c := &cases[i]
		t.Row(ui.Text(string(c.Handle)), ui.Text(string(c.Before.Verdict)), ui.Text(strings.Join(agent.Mapped(c.Steps, stepWords), ", ")),
			ui.Cell{Text: string(c.After.Verdict), Colour: verdictColour(&c.After.Assessment)}, ui.Text(leftWords(c)))
	}
	return t.Flush()
}

// leftWords describes why the run stopped, with the result of the last step if that did not help.
func leftWords(c *recovery.Case) string {
	if len(c.Steps) == 0 || c.Left == "" {
		return c.Left
	}
	last := c.Steps[len(c.Steps)-1]
	if last.Helped || strings.Contains(c.Left, last.Result) {
		return c.Left
	}
	return c.Left + ": " + last.Result
}

func printRecoveryPlan(f *ui.Factory, ladder *recovery.Ladder, cases []recovery.Case, options recovery.Options) error {
	if f.JSON {
		return f.PrintJSON(agent.Mapped(cases, func(c recovery.Case) wire.Recovered {
			out := wire.NewRecovered(&c, nil)
			out.After = nil
			if level, begins := ladder.First(&c, options); begins {
				out.First = &level
			}
			return out
		}))
	}
	t := f.NewTable("HANDLE", "IS", "FIRST", "EVIDENCE", "LEFT")
	t.Under = 2
	for i := range cases {
		c, first := &cases[i], ""
		if level, begins := ladder.First(c, options); begins {
			first = level.String()
		}
		t.Row(ui.Text(string(c.Handle)), ui.Cell{Text: string(c.Before.Verdict), Colour: verdictColour(&c.Before)}, ui.Text(first),
			ui.Text(strings.Join(c.Before.Evidence, "; ")), ui.Text(c.Left))
	}
	return t.Flush()
}
