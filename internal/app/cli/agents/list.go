package agents

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/inspect"
)

type listOptions struct{ wide, usage, allProjects, watch bool }

func newListCmd(f *ui.Factory) *cobra.Command {
	o := &listOptions{}
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "Show all agents of the project",
		Long: ui.WithCodes(`Prints one line per agent: handle, state, the running model, how long it is in that state,
the context that is left, cost. Agents that need a person come first; NEEDS says why: waits,
down, short or done. MODE, FOLDER and DESIRED appear when they differ. WHAT is the question that
is asked, the task, or the last words. A model other than the recorded one is marked, and so are
two agents in one conversation. FOLDER shows the branch of a git worktree, unless it is
nbs/<handle>; "+3" says that 3 files there differ from its last commit, as git said less than 10
seconds ago. --wide adds pid, session id, folder, pull request, branch, and the limits of your
plan; --usage adds memory, processor time and bytes written. JOB is the job of Slurm of an agent
that runs on another machine or waits, with its node or the reason.

More: nbs-worker help states.

Details:

In a pipe the fields are separated by tabs, without a header, sorted by handle: handle, state,
cause, desired state, recorded model, start (RFC 3339), context left in percent, cost in USD,
pid, session id, folder, why it needs a person, what, and with --usage bytes, seconds, bytes.
"-" means unknown or nothing. Programs should use --json. If an agent cannot be examined, stderr
says why, and its line stays.

--all-projects shows the agents of all your projects, each project under its path; in a pipe the
path is the last field. Only a person may. A project that is gone is named once, with the command
that forgets it. See also: nbs-worker project list.

--watch keeps the table on the terminal true until you press Ctrl-C. In a pipe or with --json it
prints the agents, and then each agent that changes, as one JSON object per line; one that is
dismissed has "dismissed". It sleeps while nothing changes, and knows no project that begins later.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Unfit, fail.Partial, fail.Held, fail.Interrupted),
		Example: `  nbs-worker list
  nbs-worker list --all-projects
  nbs-worker list --watch
  nbs-worker list | awk -F'\t' '$2 == "crashed" {print $1}'
  nbs-worker list --json | jq -r '.[]|select(.needs).handle'`,
		Args: ui.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runList(cmd.Context(), f, o)
		},
	}
	cmd.Flags().BoolVarP(&o.wide, "wide", "w", false, "also pid, session id, folder, pull request, branch and your plan's limits")
	cmd.Flags().BoolVar(&o.usage, "usage", false, "also memory, processor time and bytes written")
	cmd.Flags().BoolVar(&o.allProjects, "all-projects", false, "the agents of all your projects")
	cmd.Flags().BoolVar(&o.watch, "watch", false, "again at each change, until it is interrupted")
	return f.WithJSON(cmd)
}

func runList(ctx context.Context, f *ui.Factory, o *listOptions) error {
	bands, err := ui.ContextBands()
	if err != nil {
		return ui.Failed(err, "list")
	}
	all, gone, err := projectsOf(f, o.allProjects)
	if err != nil {
		return ui.Failed(err, "list")
	}
	if o.watch {
		f.SayGone(gone)
		return ui.Looked(watchList(ctx, f, all, o, bands), "list")
	}
	ui.LookAtEvery(ctx, all)
	if errors.Is(ctx.Err(), context.Canceled) {
		return ui.ExitError(fail.Interrupted)
	}
	err = printLook(f, all, o, bands) //nolint:contextcheck // lookAtTrees has its own limit
	f.SayGone(gone)
	return err
}

// lookAtTrees adds the worktrees of a project's agents to a look. It has its own short limit.
func lookAtTrees(p *ui.OpenProject) {
	if p.Err == nil {
		p.Inspector.LookAtTrees(context.Background(), p.Rows)
	}
}

// printLook prints the agents of projects after a look, and on stderr what is unknown about them.
func printLook(f *ui.Factory, all []*ui.OpenProject, o *listOptions, bands agent.Bands) error {
	outcome := &ui.Partial{}
	for _, p := range all {
		if p.Err != nil && !o.allProjects {
			return ui.Failed(p.Err, "list")
		}
		if o.usage && p.Err == nil {
			p.Inspector.Measure(p.Rows)
		}
		lookAtTrees(p)
		reportProject(f, "list", p, outcome)
	}
	var err error
	if o.allProjects {
		err = printEvery(f, all, o, bands)
	} else {
		err = printList(f, all[0].Rows, o, all[0].Judge(bands))
	}
	if err != nil {
		return ui.Failed(err, "list")
	}
	for _, p := range all {
		notePause(f, p)
	}
	return outcome.Failed()
}

func printList(f *ui.Factory, rows []inspect.Row, o *listOptions, judge *attention.Judge) error {
	switch {
	case f.JSON:
		return f.PrintJSON(jsonRows(rows, judge))
	case len(rows) == 0:
		f.Note("no agents; start one: nbs-worker spawn HANDLE")
		if f.HasTeam() {
			f.Note("%s", ui.WayUp)
		}
		return nil
	case !f.Streams.OutTTY:
		return printTabs(f, rows, o, judge, "")
	}
	return printTable(f, rows, o, judge)
}

// jsonRows returns the list for programs.
func jsonRows(rows []inspect.Row, judge *attention.Judge) []wire.Agent {
	shared := sharedConversations(rows)
	out := make([]wire.Agent, len(rows))
	for i := range rows {
		out[i] = wire.NewAgent(&rows[i], judge)
		out[i].SharedWith, out[i].Usage = shared[rows[i].Handle], (*wire.Usage)(rows[i].Usage)
	}
	return out
}

// printTable prints the list for people.
func printTable(f *ui.Factory, rows []inspect.Row, o *listOptions, judge *attention.Judge) error {
	shared := sharedConversations(rows)
	columns, under := listColumns(f, rows, o, judge, shared)
	t := f.NewTable(agent.Mapped(columns, func(c column) string { return c.name })...)
	t.Under = under
	for _, row := range newGlance(rows, judge).rows {
		t.Row(agent.Mapped(columns, func(c column) ui.Cell { return c.of(t, row.Row) })...)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if o.wide {
		printLimits(f, rows)
	}
	return nil
}

// printTabs prints the list for scripts. project is the last field, if it is not "".
func printTabs(f *ui.Factory, rows []inspect.Row, o *listOptions, judge *attention.Judge, project string) error {
	t := f.NewTable()
	for i := range rows {
		row, r := &rows[i], &rows[i].Record
		state, cause := row.Status.Words()
		if row.IsNotAllowed() {
			cause = strings.TrimPrefix(cause+", "+notAllowed, ", ")
		}
		left := ui.Text("")
		if row.Context != nil {
			left = ui.Text(strconv.Itoa(row.Context.LeftPercent()))
		}
		cells := []ui.Cell{
			ui.Text(string(row.Handle)), ui.Text(state), ui.Text(cause), ui.Text(string(r.LaunchDesired())), ui.Text(string(r.Model)), t.Time(r.Started),
			left, costCell(t, row.Cost), ui.PID(r.PID, row.Status), ui.Text(string(r.SessionID)), ui.Text(r.LaunchCwd()),
			needCell(judge, row), whatCell(t, row),
		}
		if o.usage {
			cells = append(cells, usageCells(t, row.Usage)...)
		}
		if project != "" {
			cells = append(cells, ui.Text(project))
		}
		t.Row(cells...)
	}
	return t.Flush()
}

// notAllowed marks a record that the user has not allowed.
const notAllowed = "not allowed"

// sharedConversations finds agents that share a conversation, which forks it.
func sharedConversations(rows []inspect.Row) map[agent.Handle][]agent.Handle {
	by := map[agent.SessionID][]agent.Handle{}
	for _, row := range rows {
		if id := row.Record.SessionID; id != "" {
			by[id] = append(by[id], row.Handle)
		}
	}
	shared := map[agent.Handle][]agent.Handle{}
	for _, handles := range by {
		for _, handle := range handles {
			if others := slices.DeleteFunc(slices.Clone(handles), func(other agent.Handle) bool { return other == handle }); len(others) > 0 {
				shared[handle] = others
			}
		}
	}
	return shared
}

// urgency returns the order of an agent in a list: first those that are not as they should be, then working, idle and
// stopped ones.
func urgency(row *inspect.Row) int {
	switch state := row.Status.State; {
	case row.Err != nil, row.IsNotAllowed(), state == agent.Waiting, state == agent.TurnFailed, state == agent.Unknown, isUndesired(row):
		return 0
	case state == agent.Busy, state == agent.Retrying, state == agent.Starting, state == agent.Backoff:
		return 1
	case state == agent.Idle:
		return 2
	default:
		return 3
	}
}

// isUndesired reports whether an agent runs although it should not, or does not run although it should.
func isUndesired(row *inspect.Row) bool {
	return row.Record.Handle != "" && row.Status.State != agent.Backoff && row.Status.Running() != (row.Record.LaunchDesired() == agent.DesiredRunning)
}

func stateCell(row *inspect.Row, shared []agent.Handle) ui.Cell {
	shown := ui.State(row.Status)
	if row.IsNotAllowed() {
		shown.Text += ", " + notAllowed
		shown.Colour = ui.Red
	}
	if len(shared) > 0 {
		shown.Text += ", in the conversation of " + ui.Joined(shared)
		shown.Colour = ui.Red
	}
	return shown
}
