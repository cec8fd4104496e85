package agents

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/tmux"
)

type nextOptions struct{ print, allProjects bool }

func newNextCmd(f *ui.Factory) *cobra.Command {
	o := &nextOptions{}
	cmd := &cobra.Command{
		Use:   "next",
		Short: "Go to the agent that has needed you longest",
		Long: ui.WithCodes(`Goes to the terminal of the agent that has needed a person longest: it waits for an answer, is
down, is short of context or at a usage limit, or its turn has ended and you have not looked.
Inside tmux the client switches to it, and leaves another tmux server for it; outside, this
terminal attaches. To leave, press the tmux prefix (usually C-b) and d; inside tmux, the prefix
and L go back to the session where you were.

Details:

Called again, it goes to the next one: you have seen this one. Agents that you have not seen come
first. After them come those that still need you, the one that you left longest ago first. If the
agent has no terminal, because it is down, next says so and what helps, and ends with 8. If no
agent needs you, it says that and ends with 2.

--print prints the handle, with --all-projects also the project's folder, and --json the agent
as list does. Both go nowhere, and do not count as a look.

--hosts goes to the agent, here or at any of your hosts, that has needed you longest. It prints
alice@build1 for the agent alice at the host build1. A host that does not answer is named on
stderr. With --json it prints the next agent of each place.

As a key of tmux, in tmux.conf: bind-key N run-shell 'nbs-worker next --all-projects 2>&1'`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Partial, fail.Held, fail.Interrupted),
		Example: `  nbs-worker next
  nbs-worker next --all-projects
  nbs-worker next --hosts
  nbs-worker next --print`,
		Args: ui.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runNext(cmd.Context(), f, o)
		},
	}
	cmd.Flags().BoolVar(&o.print, "print", false, "print the agent, and go nowhere")
	cmd.Flags().BoolVar(&o.allProjects, "all-projects", false, "an agent of any of your projects")
	return f.WithJSON(cmd)
}

func runNext(ctx context.Context, f *ui.Factory, o *nextOptions) error {
	bands, err := ui.ContextBands()
	if err != nil {
		return ui.Failed(err, "next")
	}
	all, _, err := projectsOf(f, o.allProjects)
	if err != nil {
		return ui.Failed(err, "next")
	}
	if !o.print && !f.JSON && !o.allProjects { // only a person sees all projects
		if err := all[0].Caller.CheckPerson("go to the terminal of an agent"); err != nil {
			return ui.Failed(err, "next")
		}
	}
	ui.LookAtEvery(ctx, all)
	if ctx.Err() != nil {
		return ui.Looked(ctx.Err(), "next")
	}
	queue := ui.QueueOf(all, bands)
	if len(queue) == 0 {
		return needsNobody(f, all)
	}
	first := firstOf(queue)
	switch {
	case f.JSON:
		return ui.Failed(printNext(f, o, first, bands), "next")
	case o.print:
		cells := []ui.Cell{ui.Text(string(first.Handle))}
		if o.allProjects {
			cells = append(cells, ui.Text(first.Project.Path))
		}
		t := f.NewTable()
		t.Row(cells...)
		return ui.Failed(t.Flush(), "next")
	}
	f.Beside(first.Project) // for the commands of hints
	return ui.Failed(goTo(ctx, f, first), "next", string(first.Handle))
}

// needsNobody returns the error that no agent needs a person; if some could not be looked at, it is about them.
func needsNobody(f *ui.Factory, all []*ui.OpenProject) error {
	outcome := &ui.Partial{}
	for _, p := range all {
		reportProject(f, "next", p, outcome)
	}
	if len(outcome.Failures) > 0 {
		return outcome
	}
	return ui.Failed(fail.Errorf(fail.NotFound, "nobody needs you"), "next")
}

// firstOf returns the agent to go to: that of the queue, or among agents that the user has all seen, the one that was
// looked at longest ago.
func firstOf(queue []ui.NeedyAgent) ui.NeedyAgent {
	if !queue[0].Seen {
		return queue[0]
	}
	seenAt := func(a ui.NeedyAgent) time.Time { return a.Project.Project.Store.Seen().All()[a.Handle.Key()] }
	return slices.MinFunc(queue, func(a, b ui.NeedyAgent) int { return seenAt(a).Compare(seenAt(b)) })
}

// printNext prints an agent for programs.
func printNext(f *ui.Factory, o *nextOptions, next ui.NeedyAgent, bands agent.Bands) error {
	rows := jsonRows(next.Project.Rows, next.Project.Judge(bands))
	row := rows[slices.IndexFunc(rows, func(row wire.Agent) bool { return row.Handle == next.Handle })]
	if o.allProjects {
		row.Project = next.Project.Path
	}
	return f.PrintJSON(row)
}

// goTo goes to the terminal of an agent, and returns only if it fails. What it says then is a look too: the next call
// goes to the next agent.
func goTo(ctx context.Context, f *ui.Factory, next ui.NeedyAgent) error {
	if tmux.Inside() == "" {
		if err := checkTerminal(f, "next --print"); err != nil {
			return err
		}
	}
	ui.NoteLook(ctx, next.Project.Supervisor, f.Now(), next.Handle)
	err := next.Project.Inspector.MoveTo(ctx, next.Handle)
	if fail.KindOf(err) == fail.NotFound { // 2 is that no agent needs a person
		err = fail.Errorf(fail.Held, "%w", err)
	}
	return err
}
