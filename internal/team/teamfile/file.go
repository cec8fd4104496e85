// Package teamfile reads team.yaml, in which a user writes down a team. A file is data: it starts nothing, and holds no
// templates and no shell.
package teamfile

import "nbs-worker/internal/agent"

// SealKind is the kind of the file's seal by the user.
const SealKind = "team"

// DefaultName is the name of the file in a project.
const DefaultName = "team.yaml"

// File is a team file, with its defaults filled in.
type File struct {
	Name   string
	Agents []Agent // in the order of the file
	Groups map[string][]agent.Handle
}

// Agent is what the file says of one agent.
type Agent struct {
	Handle      agent.Handle
	Description string   // for people
	Profiles    []string // it starts only with one of them, or when it is named; empty: always
	DependsOn   []Dependency

	Model          agent.Model          // "": the caller's default
	PermissionMode agent.PermissionMode // "": the caller's default
	ClaudeArgs     []string             // from agent, effort, settings and args
	Environment    map[string]string    // ${NAME} is replaced by up
	WorkingDir     string               // relative to the project
	Restart        agent.RestartWord
	Prompt         string
	PromptFile     string // relative to the file
	Memory         bool
	NoAnswers      bool
	Worktree       *Worktree // nil: none is made
}

// Worktree says how the worktree of an agent is made.
type Worktree struct {
	Branch string // "": nbs/<handle>
	Base   string // a commit, a branch or a tag; "": what is checked out
	Setup  string // a program in the project, which the user has allowed; "": none
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

// Dependency is an agent that must be there first.
type Dependency struct {
	On        agent.Handle
	Condition Condition
}
