package ops

import (
	"context"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
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
	var lines []ui.Line
	for _, step := range page.Page.Steps {
		for _, command := range step.Commands {
			lines = append(lines, ui.Line{step.Name, "nbs-worker " + command.String()})
		}
	}
	return f.AllowFiles(ctx, s, name, "the runbook "+name, lines, []ui.OwnFile{{Kind: runbook.SealKind, Name: page.File, Text: []byte(page.Text)}})
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
