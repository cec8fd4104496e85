// Package compose brings a team to what its file says, and compares the two. The file is a [teamfile.File].
//
//   - It touches no agent that runs, and no agent that the file does not name.
//   - It does not start an agent that a person has stopped, unless that agent is named.
//   - It keeps no state of its own: a plan follows from the file and the records. A command that was killed is run
//     again, and does the rest.
//
// Plans are pure. What is done to an agent is done by package supervisor.
package compose

import (
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/teamfile"
)

// Seen is what is known of an agent before a plan is made; zero: it has no record.
type Seen struct {
	Recorded bool
	Running  bool // or is being started
	Starting bool // perhaps by a command that was killed: it may still end before it runs
	Stopped  bool // it is marked as stopped, and does not run
	Downed   bool // down has stopped it, with its team
	Marked   bool // as stopped, though it may run: a stop was killed
}

// SeenOf returns what a list shows of the agents.
func SeenOf(rows []inspect.Row) func(agent.Handle) Seen {
	return func(handle agent.Handle) Seen {
		i := slices.IndexFunc(rows, func(row inspect.Row) bool { return row.Handle.Same(handle) })
		if i < 0 {
			return Seen{}
		}
		row := &rows[i]
		runs, marked := row.Status.Running(), row.Record.Desired == agent.DesiredStopped
		return Seen{Recorded: true, Running: runs, Starting: row.Status.State == agent.Starting, Stopped: !runs && marked, Downed: row.Record.Downed, Marked: marked}
	}
}

// Selection is which agents of a team a command acts on.
type Selection struct {
	Names    []string // handles and @groups; empty: the whole team
	Profiles []string
	NoDeps   bool // only the named agents, without those that they depend on
}

// Action is what a plan does with an agent.
type Action string

// The actions.
const (
	Spawn   Action = "spawn"  // it has no record
	Resume  Action = "resume" // it has a record and does not run
	Keep    Action = "keep"   // it runs, and is left alone
	Stay    Action = "stay"   // it is stopped, and stays so: for up, a person has stopped it and did not name it now
	Stop    Action = "stop"
	Restart Action = "restart"
)

// Step is what a plan does with one agent.
type Step struct {
	*teamfile.Agent
	Action
	Needs []teamfile.Dependency // which the step waits for; each is an earlier step

	wasStopped bool // when the plan was made
}

// over is the condition that the step of another agent has ended, in whatever way.
const over teamfile.Condition = ""

// acts reports whether the step does anything.
func (s *Step) acts() bool { return s.Action != Keep && s.Action != Stay }

// PlanUp plans the start of a team, each agent after those that it depends on. Errors: NotFound for a name that the
// file does not have.
func PlanUp(file *teamfile.File, chosen Selection, seen func(agent.Handle) Seen) ([]Step, error) {
	named, err := Choose(file, chosen)
	if err != nil {
		return nil, err
	}
	if !chosen.NoDeps {
		named = withDependencies(file, named)
	}
	var steps []Step
	for _, a := range inOrder(file, named) {
		now := seen(a.Handle)
		step := Step{Agent: a, Action: actionOf(now, chosen.names(a.Handle)), wasStopped: now.Marked}
		for _, need := range a.DependsOn {
			if !chosen.NoDeps && step.acts() {
				step.Needs = append(step.Needs, teamfile.Dependency{On: file.Agent(need.On).Handle, Condition: need.Condition})
			}
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// PlanDown plans the stop of a team, each agent after those that depend on it. An agent without a record has no step.
// Errors: those of PlanUp.
func PlanDown(file *teamfile.File, chosen Selection, seen func(agent.Handle) Seen) ([]Step, error) {
	named, err := Choose(file, chosen)
	if err != nil {
		return nil, err
	}
	var steps []Step
	for _, a := range slices.Backward(inOrder(file, named)) {
		now := seen(a.Handle)
		if !now.Recorded {
			continue
		}
		step := Step{Agent: a, Action: Stop}
		if now.Stopped {
			step.Action = Stay
		}
		for i := range steps { // those that were stopped before it
			if slices.ContainsFunc(steps[i].DependsOn, func(need teamfile.Dependency) bool { return need.On.Same(a.Handle) }) {
				step.Needs = append(step.Needs, teamfile.Dependency{On: steps[i].Handle, Condition: over})
			}
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// PlanRestart plans the restart of the agents that are not stopped, and of those that are named. An agent that should run
// and does not may be one whose restart was killed. An agent without a record has a step only if it is named. Errors:
// those of PlanUp.
func PlanRestart(file *teamfile.File, chosen Selection, seen func(agent.Handle) Seen) ([]Step, error) {
	named, err := Choose(file, chosen)
	if err != nil {
		return nil, err
	}
	var steps []Step
	for _, a := range inOrder(file, named) {
		if now := seen(a.Handle); now.Recorded && !now.Stopped || chosen.names(a.Handle) {
			steps = append(steps, Step{Agent: a, Action: Restart, wasStopped: now.Marked})
		}
	}
	return steps, nil
}

func actionOf(seen Seen, named bool) Action {
	switch {
	case seen.Running && !seen.Starting:
		return Keep
	case seen.Stopped && !seen.Downed && !named:
		return Stay
	case seen.Recorded:
		return Resume
	default:
		return Spawn
	}
}

// names reports whether the selection names the agent itself: a group does not.
func (s *Selection) names(handle agent.Handle) bool {
	return slices.ContainsFunc(s.Names, func(name string) bool { return handle.Same(agent.Handle(name)) })
}

// OnlyHandles reports whether the caller has typed each agent, so that the file adds none.
func (s *Selection) OnlyHandles() bool {
	return len(s.Names) > 0 && !slices.ContainsFunc(s.Names, func(name string) bool { return strings.HasPrefix(name, "@") })
}

// Choose returns the chosen agents, in the order of the file. An agent with profiles is chosen by one of them, by its
// name, or by a group. Errors: NotFound.
func Choose(file *teamfile.File, chosen Selection) ([]agent.Handle, error) {
	wanted := map[agent.Handle]bool{}
	for _, name := range chosen.Names {
		members, err := Members(file, name)
		if err != nil {
			return nil, err
		}
		for _, handle := range members {
			wanted[handle] = true
		}
	}
	var handles []agent.Handle
	for i := range file.Agents {
		a := &file.Agents[i]
		active := len(a.Profiles) == 0 || slices.ContainsFunc(a.Profiles, func(profile string) bool { return slices.Contains(chosen.Profiles, profile) })
		if wanted[a.Handle] || len(chosen.Names) == 0 && active {
			handles = append(handles, a.Handle)
		}
	}
	return handles, nil
}

// Members returns the agents that a name stands for: @group, or a handle. Errors: NotFound.
func Members(file *teamfile.File, name string) ([]agent.Handle, error) {
	if group, is := strings.CutPrefix(name, "@"); is {
		return file.Members(group)
	}
	if a := file.Agent(agent.Handle(name)); a != nil {
		return []agent.Handle{a.Handle}, nil
	}
	known := agent.Mapped(file.Agents, func(a teamfile.Agent) string { return string(a.Handle) })
	err := fail.Errorf(fail.NotFound, "the team file has no agent %s", human.Quote(name))
	if near := human.Nearest(name, known); near != "" {
		return nil, err.Hint("did you mean %s?", near)
	}
	return nil, err.Hint("it has %s", strings.Join(known, ", "))
}
