package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/inspect"
)

// The columns of list on a terminal.

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

// isVaried reports whether a value is not the same for all agents.
func isVaried(rows []inspect.Row, value func(*agent.Record) string) bool {
	return slices.ContainsFunc(rows, func(row inspect.Row) bool {
		return row.Record.Handle != "" && rows[0].Record.Handle != "" && value(&row.Record) != value(&rows[0].Record)
	})
}

// folderOf returns the name of an agent's folder in a list: from the project on when it is in there.
func folderOf(project string) func(*agent.Record) string {
	return func(r *agent.Record) string {
		cwd := r.LaunchCwd()
		if below, err := filepath.Rel(project, cwd); err == nil && filepath.IsLocal(below) {
			return below
		}
		return cwd
	}
}

func modeOf(r *agent.Record) string { return string(r.LaunchPermissionMode()) }

// since is how long an agent has been in its state; for a live one of which that is not known, how long ago its last
// start was.
func (t *table) since(status agent.Status, started time.Time) cell {
	switch {
	case status.Age != nil:
		return text(agent.Brief(*status.Age))
	case status.Down() || started.IsZero():
		return text("")
	}
	return text(agent.Brief(t.now.Sub(started)))
}
