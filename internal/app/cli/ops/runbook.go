package ops

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/recovery/runbook"
	"nbs-worker/runbooks"
)

func newRunbookCmd(f *ui.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runbook",
		Short: "Show and run runbooks: pages with executable steps",
		Long: ui.WithCodes(`A runbook is a Markdown page for people, with steps that nbs-worker can run. Each step is a verb
of nbs-worker with its arguments; no shell is involved. nbs-worker has pages of its own. A page in
runbooks/ of the project runs only after nbs-worker allow --runbook NAME; then it replaces the
program's page of the same name.

A fenced block is a step if its first line says so:

  `+"```"+`sh {step=resume expect="0 5"}
  nbs-worker resume $handle
  `+"```"+`

  expect="0 5"   exit codes that mean success (default: 0)
  check          the step changes nothing; it checks what was done
  confirm="..."  a question asked before the step; --yes answers it
  ask="..."      a question after the step, which a person answers

A list before the first section declares the parameters: NAME or NAME=DEFAULT in backquotes, a
colon, and a description. In a command, $handle is the value of the parameter handle, as one
word. For an example: nbs-worker runbook show fixup

Details:

The pages of nbs-worker are start (a new team), restart (a team after downtime), fixup (one agent),
shutdown, handover (from a full agent to a fresh one) and move (to another folder or machine).`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Unfit, fail.Partial, fail.Held, fail.Interrupted),
		Example: `  nbs-worker runbook list
  nbs-worker runbook show restart
  nbs-worker runbook run restart`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return fail.Errorf(fail.BadInput, "unknown command runbook %s", human.Quote(args[0])).Hint("nbs-worker runbook --help")
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newRunbookListCmd(f), newRunbookShowCmd(f), newRunbookRunCmd(f))
	return cmd
}

// openRunbooks returns the places of pages, even without a project.
func openRunbooks(f *ui.Factory) (runbook.Pages, error) {
	s, err := f.Planner()
	if err != nil {
		return runbook.Pages{}, err
	}
	return runbook.Pages{BuiltIn: runbooks.Pages, Project: s.Project.Store.Project(), Check: s.Project.Store.Allowed().Check}, nil
}

func newRunbookListCmd(f *ui.Factory) *cobra.Command {
	return f.WithJSON(&cobra.Command{
		Use:   "list",
		Short: "List the runbooks",
		Long: ui.WithCodes(`Prints one line per page: name, source, and purpose. A page of the project is "not allowed" until
you have allowed it, and again after each change.`,
			fail.NotFound, fail.BadInput),
		Example: `  nbs-worker runbook list
  nbs-worker runbook list --json | jq -r '.[]|select(.allowed|not).name'`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return ui.Failed(runRunbookList(f), "runbook list")
		},
	})
}

func runRunbookList(f *ui.Factory) error {
	shelf, err := openRunbooks(f)
	if err != nil {
		return err
	}
	pages := shelf.List()
	if f.JSON {
		return f.PrintJSON(agent.Mapped(pages, wire.NewRunbook))
	}
	t := f.NewTable("NAME", "SOURCE", "WHAT IT IS FOR")
	for _, page := range pages {
		t.Row(ui.Cell{Text: page.Name}, source(page), ui.Text(purpose(page)))
	}
	return t.Flush()
}

func source(page runbook.Found) ui.Cell {
	if page.Barred != nil {
		return ui.Cell{Text: string(page.Source) + ", not allowed", Colour: ui.Yellow}
	}
	return ui.Cell{Text: string(page.Source)}
}

func purpose(page runbook.Found) string {
	if page.Page == nil {
		return page.Err.Error()
	}
	return page.Page.Title
}

func newRunbookShowCmd(f *ui.Factory) *cobra.Command {
	return f.WithJSON(&cobra.Command{
		Use:   "show NAME",
		Short: "Print a runbook",
		Long: ui.WithCodes(`Prints the page in Markdown. If the project and the program both have a page of this name, it
prints the one that would run. --json also prints the parameters and steps.`,
			fail.NotFound, fail.BadInput, fail.Held),
		Example: `  nbs-worker runbook show restart
  nbs-worker runbook show fixup --json | jq -r '.steps[].name'`,
		Args:              onePage,
		ValidArgsFunction: completePages(f),
		RunE: func(_ *cobra.Command, args []string) error {
			return ui.Failed(runRunbookShow(f, args[0]), "runbook show", args[0])
		},
	})
}

func runRunbookShow(f *ui.Factory, name string) error {
	page, err := findPage(f, name)
	if err != nil {
		return err
	}
	if page.Barred != nil {
		f.SayNote(page.Barred.Error() + "; it does not run until then")
	}
	if f.JSON {
		return f.PrintJSON(wire.NewRunbook(page))
	}
	_, err = fmt.Fprint(f.Streams.Out, human.Legible(page.Text))
	return err
}

// findPage finds the page that runs under a name. If the project has a page of that name that does not run, it notes why.
func findPage(f *ui.Factory, name string) (runbook.Found, error) {
	shelf, err := openRunbooks(f)
	if err != nil {
		return runbook.Found{}, err
	}
	page, barred, err := shelf.Find(name)
	if err == nil && barred != nil {
		f.SayNote(fmt.Sprintf("this is the page of nbs-worker; the project has its own page: %s", barred.Barred))
		f.Hint("%s", strings.Join(fail.HintsOf(barred.Barred), "; "))
	}
	return page, err
}

// onePage checks the name of a page, so that an invalid one is refused before anything is opened.
func onePage(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fail.Errorf(fail.BadInput, "%s: one runbook is needed, %d given", cmd.CommandPath(), len(args)).
			Hint("to see them: nbs-worker runbook list")
	}
	return runbook.ParseName(args[0])
}

// completePages completes the pages.
func completePages(f *ui.Factory) ui.Completion {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		shelf, err := openRunbooks(f)
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		offered := agent.Mapped(shelf.List(), func(page runbook.Found) string { return page.Name + "\t" + purpose(page) })
		return slices.CompactFunc(offered, sameName), cobra.ShellCompDirectiveNoFileComp
	}
}

// sameName reports whether two completions complete to the same name.
func sameName(a, b string) bool {
	a, _, _ = strings.Cut(a, "\t")
	b, _, _ = strings.Cut(b, "\t")
	return a == b
}
