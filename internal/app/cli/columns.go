package cli

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/inspect"
)

// The columns of list on a terminal.

// column is one of them: its name, and its field for an agent.
type column struct {
	name string
	of   func(t *table, row *inspect.Row) cell
}

// listColumns are the columns for some agents. under is how many of the last ones stand below each row where the table is
// too wide.
func (f *factory) listColumns(rows []inspect.Row, o *listOptions, bands agent.Bands, shared map[agent.Handle][]agent.Handle) (all []column, under int) {
	all = []column{
		{"HANDLE", func(_ *table, row *inspect.Row) cell { return text(string(row.Handle)) }},
		{"STATE", func(_ *table, row *inspect.Row) cell { return stateCell(row, shared[row.Handle]) }},
		{"MODEL", func(_ *table, row *inspect.Row) cell { return modelCell(row) }},
		{"SINCE", func(t *table, row *inspect.Row) cell { return t.since(row.Status, row.Record.Started) }},
		{"CONTEXT", func(_ *table, row *inspect.Row) cell { return contextCell(row.Context, bands) }},
		{"COST", func(t *table, row *inspect.Row) cell { return t.cost(row.Cost) }},
	}
	project := ""
	if f.opened != nil {
		project = f.opened.Project()
	}
	folder := folderOf(project)
	if isVaried(rows, modeOf) {
		all = append(all, column{"MODE", func(_ *table, row *inspect.Row) cell { return text(modeOf(row)) }})
	}
	if isVaried(rows, folder) && !o.wide {
		all = append(all, column{"FOLDER", func(_ *table, row *inspect.Row) cell { return text(folder(row)) }})
	}
	if slices.ContainsFunc(rows, func(row inspect.Row) bool { return isUndesired(&row) }) {
		all = append(all, column{"DESIRED", desiredCell})
	}
	always := len(all)
	if o.usage {
		for i, name := range []string{"MEMORY", "CPU", "WRITTEN"} {
			all = append(all, column{name, func(t *table, row *inspect.Row) cell { return t.usage(row.Usage)[i] }})
		}
	}
	if o.wide {
		all = append(all,
			column{"PID", func(_ *table, row *inspect.Row) cell { return pid(row.Record.PID, row.Status) }},
			column{"SESSION", func(_ *table, row *inspect.Row) cell { return text(string(row.Record.SessionID)) }},
			column{"FOLDER", func(_ *table, row *inspect.Row) cell { return text(worksIn(row)) }})
	}
	return all, len(all) - always
}

// desiredCell is the desired state of an agent that is not in it.
func desiredCell(_ *table, row *inspect.Row) cell {
	if !isUndesired(row) {
		return cell{}
	}
	return text(string(row.Record.LaunchDesired()))
}

// modelCell is the model that an agent runs, and beside it the recorded one, which its next start takes, when that is
// another.
func modelCell(row *inspect.Row) cell {
	recorded, runs := row.Record.Model, inspect.RunningModel(&row.Sight)
	switch {
	case runs == "":
		return text(string(recorded))
	case isModel(runs, recorded):
		return text(shortModel(runs))
	default:
		return cell{text: shortModel(runs) + ", not " + string(recorded), colour: yellow}
	}
}

// shortModel is the name of a model without what all names of Claude's models begin with.
func shortModel(model agent.Model) string { return strings.TrimPrefix(string(model), "claude-") }

// isModel reports whether a running model can be the recorded one. Names that leave a choice to Claude stand for any
// model; opus stands for each opus.
func isModel(runs, recorded agent.Model) bool {
	name, _, _ := strings.Cut(strings.ToLower(string(recorded)), "[")
	switch name {
	case "", "default", "best", "opusplan":
		return true
	}
	return strings.Contains(strings.ToLower(string(runs)), name)
}

// isVaried reports whether a value is not the same for all agents whose record can be read.
func isVaried(rows []inspect.Row, value func(*inspect.Row) string) bool {
	seen := map[string]bool{}
	for i := range rows {
		if rows[i].Record.Handle != "" {
			seen[value(&rows[i])] = true
		}
	}
	return len(seen) > 1
}

// folderOf returns the name of an agent's folder in a list: from the project on when it is in there.
func folderOf(project string) func(*inspect.Row) string {
	return func(row *inspect.Row) string {
		cwd := worksIn(row)
		if below, err := filepath.Rel(project, cwd); err == nil && filepath.IsLocal(below) {
			return below
		}
		return cwd
	}
}

// worksIn is the folder that an agent's session has entered, or else the one in which it was started.
func worksIn(row *inspect.Row) string { return cmp.Or(row.WorksIn, row.Record.LaunchCwd()) }

func modeOf(row *inspect.Row) string { return string(row.Record.LaunchPermissionMode()) }

// since is how long an agent has been in its state. Where that is not known of a live one, it is the time since its
// last start.
func (t *table) since(status agent.Status, started time.Time) cell {
	switch {
	case status.Age != nil:
		return text(human.Brief(*status.Age))
	case status.Down() || started.IsZero():
		return text("")
	}
	return text(human.Brief(t.now.Sub(started)))
}
