package ops

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/recovery/runbook"
)

type runbookOptions struct {
	runbook.Options

	name   string
	set    []string // NAME=VALUE
	dryRun bool
}

func newRunbookRunCmd(f *ui.Factory) *cobra.Command {
	o := &runbookOptions{}
	cmd := &cobra.Command{
		Use:   "run NAME",
		Short: "Run the steps of a runbook",
		Long: ui.WithCodes(`Runs the steps of a page in order, in this project. All commands are checked before the first one
runs. If a step does not end as the page expects, the run ends with that step's exit code, and
says how to continue. The output of the verbs goes to stdout.

Progress is stored in the journal and in .nbs/runs. A run that did not complete is not repeated
by mistake: the same command says where it stopped, and --from STEP continues there, or starts
over with the first step. With other parameters it is another run.

Details:

If the page asks a question, a person answers it. Without a terminal the run stops there with 8,
and --from STEP is the answer; a run that would stop at a confirmation is not begun. If the
answer is no, the run ends with 130. --yes answers confirmations, but not questions that need a
judgement. --dry-run prints each step and its command, and changes nothing.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Partial, fail.Held, fail.Interrupted),
		Example: `  nbs-worker runbook run restart
  nbs-worker runbook run fixup --set handle=theologian --dry-run
  nbs-worker runbook run fixup --set handle=theologian --from repair
  nbs-worker runbook run shutdown --yes --json | jq -r .result`,
		Args:              onePage,
		ValidArgsFunction: completePages(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return ui.Failed(runRunbook(cmd.Context(), f, o), "runbook", o.name)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&o.set, "set", nil, "set a parameter of the page: NAME=VALUE; repeatable")
	flags.BoolVar(&o.dryRun, "dry-run", false, "print the commands that would run, and change nothing")
	flags.StringVar(&o.From, "from", "", "begin with this step (default: the first)")
	flags.BoolVarP(&o.Yes, "yes", "y", false, "do not ask to confirm")
	f.WithJSON(cmd)
	ui.CompleteWith(cmd, "from", completeSteps(f))
	ui.CompleteWith(cmd, "set", completeParameters(f))
	return cmd
}

func runRunbook(ctx context.Context, f *ui.Factory, o *runbookOptions) error {
	page, plan, err := planRunbook(f, o)
	if err != nil {
		return err
	}
	verbs := &Verbs{Factory: f}
	r := runbook.Runner{
		Verbs: verbs, Log: &runbook.Ledger{Plan: plan, Open: f.ProjectStore, Now: time.Now}, Ask: asker(ctx, f),
		Begins: func(step runbook.Planned, number, of int) {
			f.Line(fmt.Sprintf("step %s (%d of %d): %s", step.Name, number, of, step.Title))
		},
		GoOn: func(step string) string { return commandLine(append(plan.Command(), "--from", step)) },
	}
	if o.dryRun {
		first, err := r.First(plan, o.Options)
		if err != nil {
			return err
		}
		return printPlanned(f, page, plan, first)
	}
	if page.Barred != nil {
		return page.Barred
	}
	done, err := r.Run(ctx, plan, o.Options)
	if f.JSON && len(done) > 0 {
		if printing := f.PrintJSON(wire.NewRunbookRun(page, done, err)); printing != nil {
			return printing
		}
	}
	if err == nil {
		f.Note("%s: all steps are done", o.name)
	}
	return err
}

// planRunbook finds the page and sets its parameters.
func planRunbook(f *ui.Factory, o *runbookOptions) (runbook.Found, runbook.Plan, error) {
	page, err := findPage(f, o.name)
	if err != nil {
		return page, runbook.Plan{}, err
	}
	set := map[string]string{}
	for _, assignment := range o.set {
		name, value, ok := strings.Cut(assignment, "=")
		if !ok {
			return page, runbook.Plan{}, fail.Errorf(fail.BadInput, "--set %s is not NAME=VALUE", human.Quote(assignment)).
				Hint("to see the parameters: nbs-worker runbook show %s", o.name)
		}
		set[name] = value
	}
	plan, err := page.Page.Plan(set)
	return page, plan, err
}

// asker returns a function that asks a person; nil if there is no person at a terminal.
func asker(ctx context.Context, f *ui.Factory) func(question string) bool {
	if !f.Streams.InTTY || !f.Streams.ErrTTY {
		return nil
	}
	return func(question string) bool { return f.Confirm(ctx, question+" [y/N] ", ui.NotAllowed()) == nil }
}

// printPlanned prints the commands that would run.
func printPlanned(f *ui.Factory, page runbook.Found, plan runbook.Plan, first int) error {
	steps := plan.Steps[first:]
	if f.JSON {
		return f.PrintJSON(wire.NewRunbookPlan(page, steps))
	}
	for _, step := range steps {
		for _, args := range step.Commands {
			name := step.Name + "\t"
			if f.Streams.OutTTY {
				name = fmt.Sprintf("%-12s  ", step.Name)
			}
			if _, err := fmt.Fprintln(f.Streams.Out, name+human.Legible(commandLine(args))); err != nil {
				return err
			}
		}
	}
	return nil
}

// commandLine formats a command of this program for pasting.
func commandLine(args []string) string {
	return "nbs-worker " + strings.Join(agent.Mapped(args, ui.LineQuote), " ")
}

// completeSteps completes the steps of the typed page.
func completeSteps(f *ui.Factory) ui.Completion {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return ofPage(f, args, func(page *runbook.Page) []string {
			return agent.Mapped(page.Steps, func(step runbook.Step) string { return step.Name + "\t" + step.Title })
		}), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// completeParameters completes the parameters of the typed page.
func completeParameters(f *ui.Factory) ui.Completion {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return ofPage(f, args, func(page *runbook.Page) []string {
			return agent.Mapped(page.Parameters, func(p runbook.Parameter) string { return p.Name + "=\t" + p.About })
		}), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

func ofPage(f *ui.Factory, args []string, names func(*runbook.Page) []string) []string {
	shelf, err := openRunbooks(f)
	if err != nil || len(args) == 0 {
		return nil
	}
	page, _, err := shelf.Find(args[0])
	if err != nil {
		return nil
	}
	return names(page.Page)
}
