package agents

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/inspect"
)

// The columns of list on a terminal.

// column is one column: its name, and its field for an agent.
type column struct {
	name string
	of   func(t *ui.Table, row *inspect.Row) ui.Cell
}

// listColumns returns the columns for some agents. If the table is too wide, the last under columns are printed below
// each row.
func listColumns(f *ui.Factory, rows []inspect.Row, o *listOptions, judge *attention.Judge, shared map[agent.Handle][]agent.Handle) (all []column, under int) {
	all = []column{
		{"HANDLE", func(_ *ui.Table, row *inspect.Row) ui.Cell { return ui.Text(string(row.Handle)) }},
		{"STATE", func(_ *ui.Table, row *inspect.Row) ui.Cell { return stateCell(row, shared[row.Handle]) }},
	}
	if slices.ContainsFunc(rows, func(row inspect.Row) bool { return judge.Row(&row) != nil }) {
		all = append(all, column{"NEEDS", func(_ *ui.Table, row *inspect.Row) ui.Cell { return needCell(judge, row) }})
	}
	all = append(all, []column{
		{"MODEL", func(_ *ui.Table, row *inspect.Row) ui.Cell { return modelCell(row) }},
		{"SINCE", func(t *ui.Table, row *inspect.Row) ui.Cell { return sinceCell(t, row.Status, row.Record.Started) }},
		{"CONTEXT", func(_ *ui.Table, row *inspect.Row) ui.Cell { return contextCell(row.Context, judge.Bands) }},
		{"COST", func(t *ui.Table, row *inspect.Row) ui.Cell { return costCell(t, row.Cost) }},
	}...)
	project := ""
	if f.Opened != nil {
		project = f.Opened.Project()
	}
	folder := placeOf(project)
	if isVaried(rows, modeOf) {
		all = append(all, column{"MODE", func(_ *ui.Table, row *inspect.Row) ui.Cell { return ui.Text(modeOf(row)) }})
	}
	if isVaried(rows, folder) && !o.wide {
		all = append(all, column{"FOLDER", func(_ *ui.Table, row *inspect.Row) ui.Cell { return placeCell(folder(row)) }})
	}
	if slices.ContainsFunc(rows, func(row inspect.Row) bool { return isUndesired(&row) }) {
		all = append(all, column{"DESIRED", desiredCell})
	}
	if slices.ContainsFunc(rows, func(row inspect.Row) bool { return row.What() != nil }) {
		all = append(all, column{"WHAT", whatCell})
	}
	if slices.ContainsFunc(rows, func(row inspect.Row) bool { return row.Job != nil }) {
		all = append(all, column{"JOB", func(_ *ui.Table, row *inspect.Row) ui.Cell { return ui.Text(wire.NewJob(row.Job).Words()) }})
	}
	always := len(all)
	if o.usage {
		for i, name := range []string{"MEMORY", "CPU", "WRITTEN"} {
			all = append(all, column{name, func(t *ui.Table, row *inspect.Row) ui.Cell { return usageCells(t, row.Usage)[i] }})
		}
	}
	if o.wide {
		all = append(all,
			column{"PID", func(_ *ui.Table, row *inspect.Row) ui.Cell { return ui.PID(row.Record.PID, row.Status) }},
			column{"SESSION", func(_ *ui.Table, row *inspect.Row) ui.Cell { return ui.Text(string(row.Record.SessionID)) }},
			column{"FOLDER", func(_ *ui.Table, row *inspect.Row) ui.Cell { return ui.Text(worksIn(row)) }})
		all = append(all, handedColumns(rows)...)
	}
	return all, len(all) - always
}

// needCell returns why an agent needs a person.
func needCell(judge *attention.Judge, row *inspect.Row) ui.Cell {
	if need := judge.Row(row); need != nil {
		return reasonCell(need)
	}
	return ui.Text("")
}

func reasonCell(need *attention.Need) ui.Cell {
	colour := map[attention.Reason]string{attention.Waits: ui.Yellow, attention.Down: ui.Red, attention.Short: ui.Yellow, attention.Done: ui.Green}
	return ui.Cell{Text: string(need.Reason), Colour: colour[need.Reason]}
}

// whatCell returns what an agent asks, does, or has said last.
func whatCell(_ *ui.Table, row *inspect.Row) ui.Cell {
	if what := row.What(); what != nil {
		return ui.Text(what.Text)
	}
	return ui.Text("")
}

// desiredCell returns the desired state of an agent that is in another state.
func desiredCell(_ *ui.Table, row *inspect.Row) ui.Cell {
	if !isUndesired(row) {
		return ui.Cell{}
	}
	return ui.Text(string(row.Record.LaunchDesired()))
}

// modelCell returns the model that an agent runs. If the recorded model differs, which the next start uses, it follows.
func modelCell(row *inspect.Row) ui.Cell {
	recorded, runs := row.Record.Model, row.Sight.Model
	switch {
	case runs == "":
		return ui.Text(string(recorded))
	case isModel(runs, recorded):
		return ui.Text(shortModel(runs))
	default:
		return ui.Cell{Text: shortModel(runs) + ", not " + string(recorded), Colour: ui.Yellow}
	}
}

// shortModel returns a model's name without the prefix that all Claude models share.
func shortModel(model agent.Model) string { return strings.TrimPrefix(string(model), "claude-") }

// isModel reports whether a running model can be the recorded one. A name that leaves the choice to Claude matches any
// model; opus matches each opus.
func isModel(runs, recorded agent.Model) bool {
	name, _, _ := strings.Cut(strings.ToLower(string(recorded)), "[")
	switch name {
	case "", "default", "best", "opusplan":
		return true
	}
	return strings.Contains(strings.ToLower(string(runs)), name)
}

// isVaried reports whether a value differs among the agents with a readable record.
func isVaried(rows []inspect.Row, value func(*inspect.Row) string) bool {
	seen := map[string]bool{}
	for i := range rows {
		if rows[i].Record.Handle != "" {
			seen[value(&rows[i])] = true
		}
	}
	return len(seen) > 1
}

// worksIn returns the folder that an agent's session has entered, or, if none, the one it was started in.
func worksIn(row *inspect.Row) string { return cmp.Or(row.WorksIn, row.Record.LaunchCwd()) }

func modeOf(row *inspect.Row) string { return string(row.Record.LaunchPermissionMode()) }

// sinceCell returns how long an agent has been in its state. If that is unknown for a running agent, it is the time since
// its last start.
func sinceCell(t *ui.Table, status agent.Status, started time.Time) ui.Cell {
	switch {
	case status.Age != nil:
		return ui.Text(human.Brief(*status.Age))
	case status.Down() || started.IsZero():
		return ui.Text("")
	}
	return ui.Text(human.Brief(t.Now.Sub(started)))
}
