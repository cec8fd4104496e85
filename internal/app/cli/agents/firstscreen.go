package agents

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/requests"
	"nbs-worker/internal/team/answer"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
)

// The first screen: what nbs-worker prints on a terminal without a command.

const mostRows = 14 // of agents or projects; with the other lines, at most 20

// FirstScreen shows the agents of the project, and the command to type next; outside of a project, the user's projects.
func FirstScreen(ctx context.Context, f *ui.Factory) error {
	f.Verb = "list" // by the same right
	bands, err := ui.ContextBands()
	if err != nil {
		return ui.Failed(err, "list")
	}
	s, err := f.Supervisor()
	if fail.KindOf(err) == fail.NotFound && !f.NamesRoot() {
		return showProjects(ctx, f, bands)
	}
	if err != nil {
		return ui.Failed(err, "list")
	}
	rows, err := s.Inspector.List(ctx)
	if err != nil {
		return ui.Failed(err, "list")
	}
	outcome := &ui.Partial{Of: len(rows)}
	for i := range rows {
		if rows[i].Err != nil {
			outcome.Failures = append(outcome.Failures, rows[i].Err)
		}
	}
	g := newGlance(rows, attention.NewJudge(s.Project, bands))
	if err := g.print(f, filepath.Base(s.Project.Store.Project())); err != nil {
		return ui.Failed(err, "list")
	}
	f.NotePause(s)
	return outcome.Failed()
}

// glance is the agents of a project with their needs, those that need a person first.
type glance struct {
	judge *attention.Judge
	rows  []glanceRow
	needy int
}

type glanceRow struct {
	*inspect.Row
	need *attention.Need // nil: it needs no person
}

func newGlance(rows []inspect.Row, judge *attention.Judge) *glance {
	g := &glance{judge: judge}
	for i, need := range judge.Rows(rows) {
		g.rows = append(g.rows, glanceRow{&rows[i], need})
		if need != nil {
			g.needy++
		}
	}
	slices.SortStableFunc(g.rows, func(a, b glanceRow) int {
		switch {
		case a.need != nil && b.need != nil:
			return attention.Compare(a.need, b.need)
		case a.need != nil:
			return -1
		case b.need != nil:
			return 1
		}
		return urgency(a.Row) - urgency(b.Row)
	})
	return g
}

func (g *glance) print(f *ui.Factory, project string) error {
	if len(g.rows) == 0 {
		fmt.Fprintf(f.Streams.Out, "%s: no agents\n", ui.OneLine(project))
		return printBeginning(f)
	}
	fmt.Fprintf(f.Streams.Out, "%s: %s\n", ui.OneLine(project), g.summary())
	root := ""
	if f.Opened != nil {
		root = f.Opened.Project()
	}
	folder, all := placeOf(root), make([]inspect.Row, len(g.rows))
	for i, row := range g.rows {
		all[i] = *row.Row
	}
	inFolders := isVaried(all, folder)
	header := []string{"HANDLE", "STATE", "SINCE", "CONTEXT", "COST"}
	if inFolders {
		header = append(header, "FOLDER")
	}
	t := f.NewTable(append(header, "WHAT")...)
	for _, row := range g.rows[:min(len(g.rows), mostRows)] {
		cells := []ui.Cell{ui.Text(string(row.Handle)), row.state(), row.since(t), contextCell(row.Context, g.judge.Bands), costCell(t, row.Cost)}
		if inFolders {
			cells = append(cells, placeCell(folder(row.Row)))
		}
		t.Row(append(cells, ui.Text(row.what()))...)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if more := len(g.rows) - mostRows; more > 0 {
		fmt.Fprintln(f.Streams.Out, f.Pasteable(fmt.Sprintf("and %d more: nbs-worker list", more)))
	}
	_, err := fmt.Fprintln(f.Streams.Out, f.Pasteable("next: "+g.next(f.Opened)))
	return err
}

// summary returns how many agents there are, and how many need a person.
func (g *glance) summary() string {
	switch g.needy {
	case 0:
		return human.Count(len(g.rows), "agent") + ", none needs you"
	case 1:
		return human.Count(len(g.rows), "agent") + ", 1 needs you"
	}
	return fmt.Sprintf("%s, %d need you", human.Count(len(g.rows), "agent"), g.needy)
}

// state returns the state in one word: the reason of the need, if there is one.
func (r glanceRow) state() ui.Cell {
	if r.need == nil {
		cell := ui.State(r.Status)
		cell.Text, _, _ = strings.Cut(cell.Text, ":")
		return cell
	}
	return reasonCell(r.need)
}

func (r glanceRow) since(t *ui.Table) ui.Cell {
	if r.need != nil && !r.need.Since.IsZero() {
		return ui.Text(human.Brief(max(0, t.Now.Sub(r.need.Since))))
	}
	return sinceCell(t, r.Status, r.Record.Started)
}

// what returns the question, the reason of the need, the task or the last words.
func (r glanceRow) what() string {
	said := r.What()
	switch {
	case r.Err != nil:
		return r.Err.Error()
	case r.need != nil && r.need.What != "" && (said == nil || said.Kind != observe.Question && said.Kind != observe.Failure):
		return r.need.What
	case said != nil:
		return said.Text
	}
	return ""
}

// next returns the command to type next.
func (g *glance) next(opened *store.Store) string {
	first := g.rows[0]
	of := func(verb string) string { return "nbs-worker " + verb + " " + string(first.Handle) }
	if first.need == nil {
		switch {
		case first.Status.Down():
			return of("resume")
		case first.Status.State == agent.Idle:
			return of("send") + " TEXT"
		}
		return of("logs") + " -f"
	}
	const next = "nbs-worker next" // goes from one to the other
	switch first.need.Reason {
	case attention.Waits:
		verb := answerVerb(opened, first.Handle)
		if verb == "attach" && g.needy > 1 {
			return next
		}
		return of(verb)
	case attention.Down:
		return of("recover")
	case attention.Short:
		if first.Status.State == agent.TurnFailed {
			return of("session")
		}
		return of("compact")
	case attention.Done:
		if g.needy > 1 {
			return next
		}
	}
	return of("logs") + " -n 1"
}

// answerVerb returns the verb that answers what an agent asks: attach, if no hook of it waits for the answer.
func answerVerb(opened *store.Store, handle agent.Handle) string {
	var open []requests.Request
	if opened != nil {
		open, _ = opened.Requests().List() // if they cannot be listed, the terminal is there
	}
	open = slices.DeleteFunc(open, func(r requests.Request) bool { return !r.Handle.Same(handle) })
	switch {
	case len(open) == 0:
		return "attach"
	case len(open) == 1 && len(answer.Describe(open[0]).Questions) == 0:
		return "approve"
	}
	return "requests"
}

// showProjects shows the projects of a person, and how to begin.
func showProjects(ctx context.Context, f *ui.Factory, bands agent.Bands) error {
	all, _, err := f.EveryProject("see the agents of all projects")
	ui.LookAtEvery(ctx, all)
	if err != nil || len(all) == 0 {
		fmt.Fprintln(f.Streams.Out, "no project here")
		return printBeginning(f)
	}
	fmt.Fprintf(f.Streams.Out, "no project here; yours: %s\n", human.Count(len(all), "project"))
	t := f.NewTable("PROJECT", "AGENTS")
	for _, p := range all[:min(len(all), mostRows)] {
		cell := ui.Text("unknown")
		if p.Err == nil {
			cell = ui.Text(newGlance(p.Rows, attention.NewJudge(p.Project, bands)).summary())
		}
		t.Row(ui.Text(p.Path), cell)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if more := len(all) - mostRows; more > 0 {
		fmt.Fprintf(f.Streams.Out, "and %d more: nbs-worker project list\n", more)
	}
	return printBeginning(f)
}

// printBeginning prints how to begin.
func printBeginning(f *ui.Factory) error {
	lines := []string{"to start an agent: nbs-worker spawn NAME 'TASK'", "to see and answer all: nbs-worker dash", "to go to one: nbs-worker attach NAME"}
	if f.HasTeam() {
		lines = slices.Insert(lines, 0, ui.WayUp)
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(f.Streams.Out, f.Pasteable(line)); err != nil {
			return err
		}
	}
	return nil
}
