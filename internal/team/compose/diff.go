package compose

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/teamfile"
)

// Difference is a field that is not the same in record and file.
type Difference struct {
	Field, From, To string
	Takes           Taking
}

// Taking says what brings a field to what the file says.
type Taking string

// What a difference takes.
const (
	TakesUp      Taking = "up"      // up, or restart for an agent that runs: it is in force at once
	TakesRestart Taking = "restart" // restart, or up for an agent that does not run
	TakesFresh   Taking = "fresh"   // a new conversation: the first prompt was sent
	TakesNew     Taking = "new"     // another agent: what was made for this one stays
)

// Compare returns where a record differs from the file.
func Compare(r *agent.Record, a *teamfile.Agent, want agent.Spec) []Difference {
	have := r.Spec
	have.PermissionMode, have.Restart.Policy = have.LaunchPermissionMode(), have.LaunchRestart()
	var found []Difference
	for _, c := range SetOf(&want, a).Apply(&have) {
		d := Difference{Field: strings.ReplaceAll(c.Field, "-", "_"), From: c.From, To: c.To, Takes: TakesRestart}
		switch {
		case c.Now:
			d.Takes = TakesUp
		case c.Field == "prompt" && !r.TranscriptSeen.IsZero():
			d.Takes = TakesFresh
		}
		found = append(found, d)
	}
	if own := r.OwnWorktree; a.Worktree != nil || own != (agent.OwnWorktree{}) {
		branch := ""
		if a.Worktree != nil {
			branch = cmp.Or(a.Worktree.Branch, agent.OwnBranch(a.Handle))
		}
		if own.Branch != branch {
			found = append(found, Difference{Field: "worktree", From: own.Branch, To: branch, Takes: TakesNew})
		}
		return found // the worktree is the working directory
	}
	if have := r.LaunchCwd(); have != want.Cwd {
		found = append(found, Difference{Field: "working_dir", From: have, To: want.Cwd, Takes: TakesRestart})
	}
	return found
}

// Diff is how an agent differs from the file.
type Diff struct {
	Handle  agent.Handle
	Missing bool // it has no record
	Extra   bool // the file does not have it
	Running bool
	Fields  []Difference
	Drift   []observe.Drift // its process differs from its record
	Err     error           // why it could not be compared
}

// Equal reports whether the agent is as the file says.
func (d *Diff) Equal() bool {
	return !d.Missing && !d.Extra && len(d.Fields) == 0 && len(d.Drift) == 0 && d.Err == nil
}

// Diffs compares the chosen agents with the file, and without a choice the whole team with it: first the agents of the
// file, then those that it does not have. An agent that starts only with a profile is not missing. Errors: NotFound.
func (t *Team) Diffs(ctx context.Context, names []string) ([]Diff, error) {
	var rows []inspect.Row
	if t.Project.Store.Exists() {
		var err error
		if rows, err = t.Inspector.List(ctx); err != nil {
			return nil, err
		}
	}
	every := Selection{Names: names}
	for i := range t.File.Agents {
		every.Profiles = append(every.Profiles, t.File.Agents[i].Profiles...)
	}
	chosen, err := Choose(t.File, every)
	if err != nil {
		return nil, err
	}
	diffs := make([]Diff, 0, len(chosen))
	for _, handle := range chosen {
		a := t.File.Agent(handle)
		at := slices.IndexFunc(rows, func(row inspect.Row) bool { return row.Handle.Same(handle) })
		if at < 0 {
			diffs = append(diffs, Diff{Handle: handle, Missing: len(a.Profiles) == 0 || len(names) > 0})
		} else {
			diffs = append(diffs, t.diffOf(&rows[at], a))
		}
	}
	for i := range rows {
		if len(names) == 0 && t.File.Agent(rows[i].Handle) == nil {
			diffs = append(diffs, Diff{Handle: rows[i].Handle, Extra: true, Running: rows[i].Status.Running()})
		}
	}
	return diffs, nil
}

func (t *Team) diffOf(row *inspect.Row, a *teamfile.Agent) Diff {
	d := Diff{Handle: a.Handle, Running: row.Status.Running()}
	if row.Record.Handle == "" {
		d.Err = row.Err
		return d
	}
	want, err := t.Home.Spec(a)
	if err != nil {
		d.Err = err
		return d
	}
	d.Fields = Compare(&row.Record, a, want)
	if row.Status.SamePID {
		d.Drift, _ = t.Project.DriftOf(&row.Record) // an agent that has just ended has no drift
	}
	return d
}

// Word returns how an agent is compared with the file.
func (d *Diff) Word() string {
	switch {
	case d.Err != nil:
		return "unknown"
	case d.Missing:
		return "missing"
	case d.Extra:
		return "extra"
	case d.Equal():
		return "equal"
	default:
		return "changed"
	}
}
