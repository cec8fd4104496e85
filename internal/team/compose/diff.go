package compose

import (
	"cmp"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/supervisor"
	"nbs-worker/internal/team/teamfile"
)

// Difference is a field of which record and file say something else.
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
	for _, c := range SetOf(&want).Apply(&have) {
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
			branch = cmp.Or(a.Worktree.Branch, "nbs/"+string(a.Handle))
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

// Diffs compares a team with its file, first the agents of the file, then the others. An agent that starts only with
// a profile is not missing.
func Diffs(file *teamfile.File, home *Home, s *supervisor.Supervisor, rows []inspect.Row) []Diff {
	diffs := make([]Diff, 0, len(file.Agents))
	for i := range file.Agents {
		a := &file.Agents[i]
		d := Diff{Handle: a.Handle}
		at := slices.IndexFunc(rows, func(row inspect.Row) bool { return row.Handle.Same(a.Handle) })
		if at < 0 {
			d.Missing = len(a.Profiles) == 0
		} else {
			d = diffOf(&rows[at], a, home, s)
		}
		diffs = append(diffs, d)
	}
	for i := range rows {
		if file.Agent(rows[i].Handle) == nil {
			diffs = append(diffs, Diff{Handle: rows[i].Handle, Extra: true, Running: rows[i].Status.Running()})
		}
	}
	return diffs
}

func diffOf(row *inspect.Row, a *teamfile.Agent, home *Home, s *supervisor.Supervisor) Diff {
	d := Diff{Handle: a.Handle, Running: row.Status.Running()}
	if row.Record.Handle == "" {
		d.Err = row.Err
		return d
	}
	want, err := home.Spec(a)
	if err != nil {
		d.Err = fail.Errorf(fail.KindOf(err), "%w", err)
		return d
	}
	d.Fields = Compare(&row.Record, a, want)
	if row.Status.SamePID {
		d.Drift, _ = s.Project.DriftOf(&row.Record) // an agent that has just ended has no drift
	}
	return d
}
