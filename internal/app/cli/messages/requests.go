package messages

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
	"nbs-worker/internal/store/requests"
	"nbs-worker/internal/team/answer"
)

func newRequestsCmd(f *ui.Factory) *cobra.Command {
	o, full := &ui.Selection{}, false
	cmd := &cobra.Command{
		Use:   "requests [<handle>... | @GROUP...]",
		Short: "List what agents ask for",
		Long: ui.WithCodes(`Lists the open requests of all agents: the id, the agent, since when, the tool, and what is
asked in one line. For the named agents, with --full, or if a terminal shows only one request,
it prints each request whole: the command; the path of an edit and its difference; the
question with its options; and the rules that Claude suggests (approve --always).

Only agents whose permission hook waits have requests here. Other dialogs, such as a login or
what a subagent asks, are answered in the terminal: nbs-worker attach <handle>. A request ends
when it is answered here or there, and when its claude ends.`, fail.Failed, fail.NotFound, fail.BadInput, fail.Held),
		Example: `  nbs-worker requests
  nbs-worker requests theologian
  nbs-worker requests --json | jq -r '.[]|[.handle, .title]|@tsv'`,
		Args:              o.Optional,
		ValidArgsFunction: f.SelectionWhere(ui.Running),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ui.Failed(runRequests(cmd.Context(), f, o, full), "requests")
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "print each request whole")
	return f.WithJSON(cmd)
}

func runRequests(ctx context.Context, f *ui.Factory, o *ui.Selection, full bool) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	handles, err := o.Named(s)
	if err != nil {
		return err
	}
	open, err := answer.New(s.Project, s.Caller).List(ctx, handles...)
	switch {
	case err != nil:
		return err
	case f.JSON:
		return f.PrintJSON(append([]wire.Request{}, agent.Mapped(open, wire.NewRequest)...))
	case len(open) == 0:
		f.Note("no requests")
		return nil
	case full || len(handles) > 0 || f.Streams.OutTTY && len(open) == 1:
		return printRequests(f, open)
	}
	t := f.NewTable("ID", "HANDLE", "SINCE", "TOOL", "WHAT")
	t.Under = 1
	for _, r := range open {
		t.Row(ui.Text(r.ID), ui.Text(string(r.Handle)), t.Time(r.At), ui.Text(r.Tool), ui.Text(answer.Describe(r).What))
	}
	return t.Flush()
}

// printRequests prints requests whole, and for a person how they are answered.
func printRequests(f *ui.Factory, open []requests.Request) error {
	for i, r := range open {
		text, gap := answer.Describe(r), ""
		if i > 0 {
			gap = "\n"
		}
		head := fmt.Sprintf("%s%s  %s  %s  %s", gap, r.ID, r.Handle, human.Legible(human.OneLine(r.Tool)), human.Ago(r.At, f.Now()))
		lines := []string{head, "  " + strings.ReplaceAll(text.Body, "\n", "\n  ")}
		for _, rule := range text.Always {
			lines = append(lines, "with --always: "+rule)
		}
		if _, err := fmt.Fprintln(f.Streams.Out, strings.Join(lines, "\n")); err != nil {
			return err
		}
	}
	if len(open) == 1 && f.Streams.OutTTY && !f.JSON {
		for _, verb := range verbsFor(open[0]) {
			f.Hint("nbs-worker %s", verb)
		}
	}
	return nil
}

// verbsFor returns the commands that answer a request.
func verbsFor(r requests.Request) []string {
	deny := fmt.Sprintf("deny %s %s", r.Handle, r.ID)
	if len(answer.Describe(r).Questions) > 0 {
		return []string{fmt.Sprintf("answer %s %s 1", r.Handle, r.ID), deny}
	}
	return []string{fmt.Sprintf("approve %s %s", r.Handle, r.ID), deny}
}
