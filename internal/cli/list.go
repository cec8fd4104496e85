package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/supervisor"
)

func newListCmd(f *factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "Show all agents of the project",
		Long: withCodes(`One line an agent, by handle: state, wish (running or stopped), model, last start,
pid, session id, folder, context that is left, cost. On a terminal with a header and "3 hours ago"; in a pipe
without header, separated by tabs, times in RFC 3339, "-" for what is not known.
What hides an agent, such as a damaged record, is said on stderr, and its line stays.
A live agent is starting, idle, busy, waiting (for a person) or unknown; session also
tells retrying (the API refuses) from busy. One that should run and does not shows why:
exited, crashed, lost: reboot, lost: tmux, killed: out of memory, never started; one that
was ended is stopped. Context and cost are what Claude's status line said last; session
knows more.`,
			agent.Failed, agent.NotFound, agent.TimedOut, agent.BadInput, agent.Unfit, agent.Partial, agent.Interrupted),
		Example: `  nbs-worker list
  nbs-worker list | awk -F'\t' '$2 == "crashed" {print $1}'
  nbs-worker list --json | jq -r '.[] | select(.desired == "running" and (.running | not)) | .handle'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runList(cmd.Context(), f) },
	}
	f.jsonFlag(cmd)
	return cmd
}

func runList(ctx context.Context, f *factory) error {
	bands, err := contextBands()
	if err != nil {
		return failed(err, "list")
	}
	s, err := f.supervisor()
	if err != nil {
		return failed(err, "list")
	}
	rows, err := s.List(ctx)
	if errors.Is(ctx.Err(), context.Canceled) {
		return exitError(agent.Interrupted)
	}
	if err != nil {
		return failed(err, "list")
	}
	outcome := &partial{of: len(rows)}
	said := map[string]bool{} // one tmux server that is down concerns all of its agents
	for i := range rows {
		row := &rows[i]
		if row.Err == nil {
			continue
		}
		outcome.failures = append(outcome.failures, row.Err)
		if !said[row.Err.Error()] {
			f.printError(failed(row.Err, "list", string(row.Handle)))
			said[row.Err.Error()] = true
		}
	}
	if err := f.printList(rows, bands); err != nil {
		return failed(err, "list")
	}
	if len(outcome.failures) > 0 {
		return outcome
	}
	return nil
}

func (f *factory) printList(rows []supervisor.Row, bands agent.Bands) error {
	if f.json {
		out := make([]listJSON, len(rows))
		for i, row := range rows {
			out[i] = newListJSON(row, bands)
		}
		return f.printJSON(out)
	}
	t := f.newTable("HANDLE", "STATE", "WISH", "MODEL", "STARTED", "PID", "SESSION", "FOLDER", "CONTEXT", "COST")
	for i := range rows {
		row, r := &rows[i], &rows[i].Record
		t.row(
			text(string(row.Handle)), state(row.Status), text(string(wish(r))), text(string(r.Model)),
			t.time(r.Started), pid(r.PID, row.Status), text(string(r.SessionID)), text(r.LaunchCwd()),
			contextCell(row.Context, bands), t.cost(row.Cost),
		)
	}
	if len(rows) == 0 {
		f.note("no agents; start one: nbs-worker spawn HANDLE")
	}
	return t.flush()
}
