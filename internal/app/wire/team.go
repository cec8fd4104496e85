package wire

import (
	"nbs-worker/internal/agent"
	"nbs-worker/internal/team/compose"
	"nbs-worker/internal/team/supervisor"
	"nbs-worker/internal/team/worktree"
)

// TeamStep is what up, down or restart does with an agent, or with --dry-run would do.
type TeamStep struct {
	Handle  agent.Handle   `json:"handle"`
	Action  string         `json:"action"` // spawn, resume, restart, stop; keep: it runs; stay: it is stopped and stays so
	After   []agent.Handle `json:"after"`  // the agents that it waits for
	Changed []Difference   `json:"changed"`
	Tree    *PlannedTree   `json:"worktree,omitempty"` // what a new agent gets, with --dry-run
	Started *Started       `json:"started,omitempty"`
	Ended   *Ended         `json:"ended,omitempty"`
}

// Difference is a field that is not the same in an agent's record and in the team file.
type Difference struct {
	Field string `json:"field"` // as in the team file
	From  string `json:"from"`
	To    string `json:"to"`
	Takes string `json:"takes"` // up, restart, fresh (a new conversation) or new (another agent)
}

// NewTeamStep converts a step of a plan.
func NewTeamStep(step *compose.Step, changed []compose.Difference) TeamStep {
	out := TeamStep{Handle: step.Handle, Action: string(step.Action), After: []agent.Handle{}, Changed: newDifferences(changed)}
	for _, need := range step.Needs {
		out.After = append(out.After, need.On)
	}
	return out
}

// PlannedTree is the worktree that would be made for an agent, or taken as it is.
type PlannedTree struct {
	Path      string `json:"path"`
	Branch    string `json:"branch"`
	NewBranch bool   `json:"new_branch"`
	IsThere   bool   `json:"is_there"` // left by a command that was killed, by a dismissal or by a restore
}

// InTree adds a worktree to a step; nil: none.
func (t TeamStep) InTree(tree *worktree.Plan) TeamStep {
	if tree != nil {
		t.Tree = &PlannedTree{Path: tree.Path, Branch: tree.Branch, NewBranch: tree.NewBranch, IsThere: tree.Left}
	}
	return t
}

// With adds a start to a step.
func (t TeamStep) With(started supervisor.Started) TeamStep {
	t.Started = new(NewStarted(started))
	return t
}

// WithEnd adds the end of the agent to a step.
func (t TeamStep) WithEnd(ended supervisor.Stopped) TeamStep {
	t.Ended = new(NewEnded(ended, "stopped"))
	return t
}

func newDifferences(changed []compose.Difference) []Difference {
	return list(agent.Mapped(changed, func(d compose.Difference) Difference {
		return Difference{Field: d.Field, From: d.From, To: d.To, Takes: string(d.Takes)}
	}))
}

// TeamDiff is how an agent differs from the team file.
type TeamDiff struct {
	Handle  agent.Handle `json:"handle"`
	Is      string       `json:"is"` // equal, missing, extra, changed, or unknown
	Running bool         `json:"running"`
	Changed []Difference `json:"changed"`
	Drift   []Drift      `json:"drift"`           // where its process differs from its record
	Error   string       `json:"error,omitempty"` // why it could not be compared
}

// NewTeamDiff converts a comparison.
func NewTeamDiff(d *compose.Diff) TeamDiff {
	out := TeamDiff{Handle: d.Handle, Is: d.Word(), Running: d.Running, Changed: newDifferences(d.Fields), Drift: []Drift{}}
	for _, drift := range d.Drift {
		out.Drift = append(out.Drift, Drift(drift))
	}
	if d.Err != nil {
		out.Error = d.Err.Error()
	}
	return out
}
