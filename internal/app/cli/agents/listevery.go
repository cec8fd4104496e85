package agents

import (
	"fmt"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/projects"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
)

// The list of the agents of all projects.

// projectsOf opens the project of the command or, if all are asked for, all projects of the user.
func projectsOf(f *ui.Factory, every bool) (all []*ui.OpenProject, gone []projects.Project, err error) {
	if every {
		return f.EveryProject("see the agents of all projects")
	}
	s, err := f.Supervisor()
	if err != nil {
		return nil, nil, err
	}
	return []*ui.OpenProject{{Supervisor: s, Path: s.Project.Store.Project()}}, nil, nil
}

// notePause prints that a project is paused.
func notePause(f *ui.Factory, p *ui.OpenProject) {
	if p.Supervisor != nil {
		defer f.Beside(p)()
		f.NotePause(p.Supervisor)
	}
}

// reportProject prints what is unknown about a project and its agents: each cause once.
func reportProject(f *ui.Factory, verb string, p *ui.OpenProject, outcome *ui.Partial) {
	defer f.Beside(p)()
	outcome.Of += max(1, len(p.Rows))
	if p.Err != nil {
		outcome.Failures = append(outcome.Failures, p.Err)
		f.PrintError("", ui.Failed(p.Err, verb, p.Path))
	}
	said := map[string]bool{}
	for i := range p.Rows {
		row := &p.Rows[i]
		if row.Err == nil {
			continue
		}
		outcome.Failures = append(outcome.Failures, row.Err)
		if !said[row.Err.Error()] {
			f.PrintError(row.Handle, ui.Failed(row.Err, verb, string(row.Handle)))
			said[row.Err.Error()] = true
		}
	}
}

func printEvery(f *ui.Factory, all []*ui.OpenProject, o *listOptions, bands agent.Bands) error {
	if f.JSON {
		return f.PrintJSON(everyAsJSON(f, all, bands))
	}
	count := 0
	for _, p := range all {
		count += len(p.Rows)
		if err := printGroup(f, p, o, bands, count > len(p.Rows)); err != nil {
			return err
		}
	}
	if count == 0 {
		f.Note("no agents in %s; start one in a folder of yours: nbs-worker spawn HANDLE", human.Count(len(all), "project"))
	}
	return nil
}

// everyAsJSON returns the agents of all projects, and the error of each project that could not be read.
func everyAsJSON(f *ui.Factory, all []*ui.OpenProject, bands agent.Bands) []any {
	out := []any{}
	for _, p := range all {
		if p.Err != nil {
			back := f.Beside(p)
			failure := f.FailureOf("", ui.Failed(p.Err, "list", p.Path))
			back()
			failure.Project = p.Path
			out = append(out, failure)
		}
		for _, one := range jsonRows(p.Rows, p.Judge(bands)) {
			one.Project = p.Path
			out = append(out, one)
		}
	}
	return out
}

// printGroup prints the agents of a project: on a terminal under its path, and after an empty line if another project
// is above.
func printGroup(f *ui.Factory, p *ui.OpenProject, o *listOptions, bands agent.Bands, below bool) error {
	switch {
	case !f.Streams.OutTTY && p.Err != nil:
		return printTabs(f, unread(), o, p.Judge(bands), p.Path)
	case !f.Streams.OutTTY:
		return printTabs(f, p.Rows, o, p.Judge(bands), p.Path)
	case len(p.Rows) == 0:
		return nil
	}
	if below {
		fmt.Fprintln(f.Streams.Out)
	}
	fmt.Fprintln(f.Streams.Out, f.Coloured(ui.Bold, ui.OneLine(p.Path)))
	defer f.Beside(p)()
	return printTable(f, p.Rows, o, p.Judge(bands))
}

// unread is the row of a project that could not be read, for scripts: its agents are unknown.
func unread() []inspect.Row {
	status := agent.Status{State: agent.Unknown, Source: agent.FromRecord, Detail: "the project cannot be read"}
	return []inspect.Row{{Sight: observe.Sight{Status: status}}}
}
