package agent

import "time"

// Schema is the newest form of the record that this program writes. Zero is the
// form of the original tools: eight fields and no schema.
const Schema = 1

// Spec is what is wanted of an agent: it decides what a start runs, and where. A seal covers all
// of its fields, in their order. It leaves out [Spec.Memory] when that is off, since older seals do not have it,
// and covers only the ids of previous sessions.
type Spec struct {
	Schema    int       `json:"schema"`
	Handle    Handle    `json:"handle"`
	SessionID SessionID `json:"session_id"`

	PreviousSessions []PreviousSession `json:"previous_sessions,omitempty"` // the agent may go back to them

	Model          Model             `json:"model"`
	PermissionMode PermissionMode    `json:"permission_mode,omitempty"`
	ProjectRoot    string            `json:"project_root"`
	Cwd            string            `json:"cwd,omitempty"`
	ConfigDir      string            `json:"config_dir"` // "": Claude's default, the variable unset
	ClaudeArgs     []string          `json:"claude_args"`
	Env            map[string]string `json:"env"`
	InitialPrompt  string            `json:"initial_prompt"`
	Restart        RestartPolicy     `json:"restart"`

	MayManage bool `json:"may_manage,omitempty"` // it may give colleagues what it does not have itself
	Depth     int  `json:"depth,omitempty"`      // agents between it and a person: 0 when a person spawned it
	Memory    bool `json:"memory,omitempty"`     // what it does is observed and remembered
}

// PreviousSession is a conversation that the agent was in before.
type PreviousSession struct {
	SessionID SessionID `json:"session_id"`
	Until     time.Time `json:"until"`
	Reason    string    `json:"reason"`
}

// LaunchCwd is the folder in which claude is started.
func (s *Spec) LaunchCwd() string {
	if s.Cwd != "" {
		return s.Cwd
	}
	return s.ProjectRoot
}

// LaunchPermissionMode is the mode with which claude is started. The original
// tools recorded none and always bypassed.
func (s *Spec) LaunchPermissionMode() PermissionMode {
	if s.PermissionMode != "" {
		return s.PermissionMode
	}
	return BypassPermissions
}

// Conversations are all that the agent was in: this one first, then the earlier ones.
func (s *Spec) Conversations() []SessionID {
	earlier := Mapped(s.PreviousSessions, func(previous PreviousSession) SessionID { return previous.SessionID })
	return append([]SessionID{s.SessionID}, earlier...)
}
