package agent

import "time"

// Schema is the newest form of the record that this program writes. Zero is the form of the original tools: eight
// fields without a schema.
const Schema = 1

// Spec is the configuration of an agent: it decides what a start runs, and where. A seal covers all of its fields, in
// their order. The seal leaves out each later field while it is zero, because older seals do not have it, and covers
// only the ids of previous sessions.
type Spec struct {
	Schema    int       `json:"schema"`
	Handle    Handle    `json:"handle"`
	SessionID SessionID `json:"session_id"`

	PreviousSessions []PreviousSession `json:"previous_sessions,omitempty"` // the agent may go back to them

	Model          Model             `json:"model"`
	PermissionMode PermissionMode    `json:"permission_mode,omitempty"`
	ProjectRoot    string            `json:"project_root"`
	Cwd            string            `json:"cwd,omitempty"`
	ConfigDir      string            `json:"config_dir"` // "": Claude's default, with the variable unset
	ClaudeArgs     []string          `json:"claude_args"`
	Env            map[string]string `json:"env"`
	InitialPrompt  string            `json:"initial_prompt"`
	Restart        RestartPolicy     `json:"restart"`

	MayManage bool `json:"may_manage,omitzero"` // it may give colleagues rights that it does not have itself
	Depth     int  `json:"depth,omitzero"`      // agents between it and a person: 0 when a person spawned it
	Memory    bool `json:"memory,omitzero"`     // its actions are observed and remembered
	NoAnswers bool `json:"no_answers,omitzero"` // what it asks is answered in its terminal only

	// ForkOf is the conversation that claude copies into this one at the first start; "": this one begins
	// empty. It counts until this conversation has a transcript.
	ForkOf SessionID `json:"fork_of,omitempty"`

	Budget Budget `json:"budget,omitempty"` // what it may spend before messages wait; "": no limit

	OwnWorktree OwnWorktree `json:"own_worktree,omitzero"` // made for it; zero: it works in a folder that others made

	Settings string `json:"settings,omitempty"` // Claude's, beside those that every agent gets: an object in JSON; "": none
}

// PreviousSession is an earlier conversation of the agent.
type PreviousSession struct {
	SessionID SessionID `json:"session_id"`
	Until     time.Time `json:"until"`
	Reason    string    `json:"reason"`
}

// LaunchCwd returns the folder in which claude is started.
func (s *Spec) LaunchCwd() string {
	if s.Cwd != "" {
		return s.Cwd
	}
	return s.ProjectRoot
}

// LaunchPermissionMode returns the mode with which claude is started. The original tools did not record one and
// always bypassed permissions.
func (s *Spec) LaunchPermissionMode() PermissionMode {
	if s.PermissionMode != "" {
		return s.PermissionMode
	}
	return BypassPermissions
}

// TakesAnswers reports whether a hook waits beside each dialog of a start, so that a command can answer it. An agent
// that bypasses permissions has none.
func (s *Spec) TakesAnswers() bool {
	return !s.NoAnswers && s.LaunchPermissionMode() != BypassPermissions
}

// Conversations returns all conversations of the agent: the present one first, then the earlier ones.
func (s *Spec) Conversations() []SessionID {
	earlier := Mapped(s.PreviousSessions, func(previous PreviousSession) SessionID { return previous.SessionID })
	return append([]SessionID{s.SessionID}, earlier...)
}
