package ops

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/recovery/runbook"
)

// runAllowRunbook shows a runbook page of the project, and asks for permission.
func runAllowRunbook(ctx context.Context, f *ui.Factory, name string) error {
	shelf, err := openRunbooks(f)
	if err != nil {
		return err
	}
	page, err := shelf.Own(name)
	if err != nil {
		return err
	}
	s, err := f.NewProject() // a project may have pages before it has agents
	if err != nil {
		return err
	}
	if page.Barred == nil {
		return f.Show(ui.Outcome{Handle: agent.Handle(name), Words: "is allowed already"}, "")
	}
	if err := printPage(f, page); err != nil {
		return err
	}
	if !f.Confirmed(fmt.Sprintf("\nallow the runbook %s? [y/N] ", name)) {
		return fail.Errorf(fail.Failed, "not allowed; nothing was changed")
	}
	if err := s.AllowFile(ctx, runbook.SealKind, page.File, []byte(page.Text)); err != nil {
		return err
	}
	return f.Show(ui.Outcome{Handle: agent.Handle(name), Words: "allowed"}, "")
}

// printPage prints a page. What it runs comes last, right above the question.
func printPage(f *ui.Factory, page runbook.Found) error {
	if _, err := fmt.Fprintf(f.Streams.Out, "%s\n%s would run:\n\n", human.Legible(page.Text), human.Legible(page.File)); err != nil {
		return err
	}
	for _, step := range page.Page.Steps {
		for _, command := range step.Commands {
			if _, err := fmt.Fprintf(f.Streams.Out, "  %-12s  nbs-worker %s\n", step.Name, human.Legible(command.String())); err != nil {
				return err
			}
		}
	}
	return nil
}

// completeBarred completes the project's pages that are not allowed.
func completeBarred(f *ui.Factory) ui.Completion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		shelf, err := openRunbooks(f)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		for _, page := range shelf.List() {
			if page.Barred != nil {
				names = append(names, page.Name+"\t"+purpose(page))
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
