package watch

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/journal"
	"nbs-worker/internal/store/watching"
	"nbs-worker/internal/team/recovery"
	"nbs-worker/internal/team/supervisor"
	"nbs-worker/internal/team/triage"
)

// Project implements [Team] and [Keeper] for a project.
type Project struct {
	Supervisor *supervisor.Supervisor
	policy     *Policy
	ladder     *recovery.Ladder
}

// NewProject returns a project whose agents are judged and repaired by a policy.
func NewProject(s *supervisor.Supervisor, policy *Policy) *Project {
	limits := recovery.Limits{Bands: policy.Bands, Patience: policy.Patience, Compact: policy.compacts}
	return &Project{Supervisor: s, policy: policy, ladder: recovery.New(s, limits, "watch", func(agent.Handle, string) {})}
}

// Handles lists the agents. Errors: NotFound when the project is gone.
func (p *Project) Handles() ([]agent.Handle, error) {
	if p.Supervisor.Project.Store.Gone() {
		return nil, fail.Errorf(fail.NotFound, "the .nbs of %s was removed or moved away", human.Quote(p.Supervisor.Project.Store.Project()))
	}
	return p.Supervisor.Project.Store.Handles()
}

// Look judges agents.
func (p *Project) Look(ctx context.Context, handles []agent.Handle) []recovery.Patient {
	return p.ladder.Look(ctx, handles)
}

// Repair runs the ladder as far as the policy permits. Errors: Conflict when another command holds the agent, or
// nothing was done; Failed when the agent is afterwards neither well nor as well as the policy requires.
func (p *Project) Repair(ctx context.Context, handle agent.Handle) (done string, err error) {
	p.Supervisor.Project.Began = time.Now().UTC() // a process that is about to end is waited for, counted from now
	report, err := p.ladder.Run(ctx, recovery.Options{
		Handles: []agent.Handle{handle}, MaxLevel: p.policy.MaxLevel, Fresh: p.policy.MaxLevel >= triage.LevelFresh, Leave: p.leaves,
	})
	if err != nil || len(report.Cases) == 0 {
		return "", err
	}
	c := report.Cases[0]
	if len(c.Steps) == 0 {
		return "", fail.Errorf(fail.Conflict, "nothing was done: %s", cmp.Or(c.Left, "it is "+string(c.After.Verdict)+" by itself"))
	}
	steps := make([]string, len(c.Steps))
	for i, step := range c.Steps {
		steps[i] = fmt.Sprintf("level %d, %s: %s", step.Level, step.Level, step.Result)
	}
	done = strings.Join(steps, "; ")
	better := c.After.Verdict == triage.Stressed && p.leaves(&c.After)
	if !c.After.Verdict.IsWell() && !better {
		return "", fail.Errorf(fail.Failed, "%s", strings.TrimSuffix(done+"; "+c.Left, "; "))
	}
	return done, nil
}

// leaves reports whether the policy requires no repair of an agent in its present state. Since it was judged, the
// agent may have changed by itself or by a step.
func (p *Project) leaves(patient *recovery.Patient) bool {
	var c watchedAgent
	c.update(patient)
	return !c.needs(p.policy)
}

// LoadState reads the state that the last watch has saved.
func (p *Project) LoadState() (memory State, err error) {
	err = p.Supervisor.Project.Store.Watching().Recall(&memory)
	return memory, err
}

// SaveState saves the state for the next watch.
func (p *Project) SaveState(memory State) error {
	return p.Supervisor.Project.Store.Watching().Remember(memory)
}

// Paused returns the pause of the project; nil if it is not paused.
func (p *Project) Paused() (*watching.Pause, error) {
	return p.Supervisor.Project.Store.Watching().Paused()
}

// Note journals an action that is about to be taken.
func (p *Project) Note(ctx context.Context, handle agent.Handle, detail string) error {
	return p.Supervisor.Project.Store.Journal().Append(ctx, journal.Event{At: p.Supervisor.Project.Seconds(), Event: "watch", Handle: handle, Detail: detail})
}
