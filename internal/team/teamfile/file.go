// Package teamfile reads team.yaml, in which a user writes down a team. A file is data: it starts nothing, and holds no
// templates and no shell.
package teamfile

import (
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// SealKind is the kind of the file's seal by the user.
const SealKind = "team"

// DefaultName is the name of the file in a project.
const DefaultName = "team.yaml"

// File is a team file, with its defaults filled in.
type File struct {
	Name   string  // for people; may be empty
	Agents []Agent // in the order of the file
	Groups []Group // in the order of the file
}

// Group is a name for several agents: @reviewers.
type Group struct {
	Name    string
	Members []agent.Handle // as the agents of the file are written
}

// Agent is what the file says of one agent.
type Agent struct {
	Handle      agent.Handle
	Description string   // for people
	Profiles    []string // it starts only with one of them, or when it is named; empty: always
	DependsOn   []Dependency

	Model          agent.Model          // "": the caller's default
	ClaudesModel   bool                 // "default": Claude chooses, whatever the caller's default is
	PermissionMode agent.PermissionMode // "": the caller's default
	ClaudeArgs     []string             // from agent, effort and args
	Settings       string               // as [claude.ParseSettings] returns them
	SettingsFile   string               // the file they are in: relative to the team file, in its folder or below it
	Environment    map[string]string    // as written: [Expand] replaces ${NAME}
	WorkingDir     string               // relative to the project
	Restart        agent.RestartWord    // "no" if the file names none
	Prompt         string
	PromptFile     string // relative to the file, in its folder or below it; excludes Prompt
	Memory         bool
	NoAnswers      bool
	Budget         *agent.Budget // nil: what set has given stays
	Worktree       *Worktree     // nil: none is made
}

// Worktree says how the worktree of an agent is made.
type Worktree struct {
	Branch string // "": nbs/<handle>
	Base   string // a commit, a branch or a tag; "": what is checked out

	Link  []string // names that are links to the same names of the main tree
	Setup []string // a program with its arguments that is run in the new tree; none: nothing is run
}

// Agent returns the agent with a handle, or nil.
func (f *File) Agent(handle agent.Handle) *Agent {
	for i := range f.Agents {
		if f.Agents[i].Handle.Same(handle) {
			return &f.Agents[i]
		}
	}
	return nil
}

// Members returns the agents of a group. Errors: NotFound.
func (f *File) Members(group string) ([]agent.Handle, error) {
	var names []string
	for _, g := range f.Groups {
		if strings.EqualFold(g.Name, group) {
			return g.Members, nil
		}
		names = append(names, g.Name)
	}
	err := fail.Errorf(fail.NotFound, "there is no group %s in the team file", human.Quote("@"+group))
	if near := human.Nearest(group, names); near != "" {
		return nil, err.Hint("did you mean @%s?", near)
	}
	if len(names) > 0 {
		return nil, err.Hint("there are @%s", strings.Join(names, ", @"))
	}
	return nil, err
}

// Condition is what must be true of an agent before those that depend on it are started.
type Condition string

// The conditions.
const (
	Started       Condition = "started"         // its claude runs
	Ready         Condition = "ready"           // its claude takes input; the default
	Idle          Condition = "idle"            // it waits for input
	FirstTurnDone Condition = "first-turn-done" // it has ended a turn of its present conversation
)

// Conditions lists all conditions.
var Conditions = []Condition{Started, Ready, Idle, FirstTurnDone}

// Dependency is an agent that must be there first.
type Dependency struct {
	On        agent.Handle
	Condition Condition
}
