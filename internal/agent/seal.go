package agent

import (
	"encoding/binary"
	"maps"
	"slices"
	"strconv"
)

// Seal vouches that the user, or a command of the user's, has written what a record makes
// run. Who has no key cannot make it, whatever lies in a project.
type Seal struct {
	MAC    string            `json:"mac"`    // HMAC-SHA-256 over all fields
	Fields map[string]string `json:"fields"` // a short one of each, which tells what was changed and vouches for nothing
}

// Field is a part of what a seal is about.
type Field struct{ Name, Value string }

// LaunchFields are all that decides what a start of the agent runs, and where. What is only
// observed is not among them: whoever forges that has the same agent started. Of its process it
// is what stands for a mark that the process itself would have to bear.
func (r *Record) LaunchFields() []Field {
	return []Field{
		{"schema", strconv.Itoa(r.Schema)},
		{"handle", string(r.Handle)},
		{"session_id", string(r.SessionID)},
		{"previous_sessions", words(len(r.PreviousSessions), func(i int) string { return string(r.PreviousSessions[i].SessionID) })},
		{"model", string(r.Model)},
		{"permission_mode", string(r.PermissionMode)},
		{"project_root", r.ProjectRoot},
		{"cwd", r.Cwd},
		{"config_dir", r.ConfigDir},
		{"claude_args", words(len(r.ClaudeArgs), func(i int) string { return r.ClaudeArgs[i] })},
		{"env", envWords(r.Env)},
		{"initial_prompt", r.InitialPrompt},
		{"restart", r.Restart.Policy},
		{"may_manage", strconv.FormatBool(r.MayManage)},
		{"depth", strconv.Itoa(r.Depth)},
		{"process", r.Process.unmarked()},
	}
}

// unmarked is what is believed of a start although nothing else shows it: which process a person
// has given over, which one is below a wrapper, and where a tmux server of no usual place is.
func (p *Process) unmarked() string {
	if p == nil {
		return ""
	}
	var parts []string
	if p.Adopted != nil {
		parts = append(parts, "adopted", p.Identified.String(), strconv.FormatInt(p.Adopted.RegisteredMS, 10))
	}
	if p.Wrapped != nil {
		parts = append(parts, "wrapped", p.Wrapped.String())
	}
	if p.Tmux.ByPath() {
		parts = append(parts, "socket", p.Tmux.Socket)
	}
	return words(len(parts), func(i int) string { return parts[i] })
}

// words writes a list so that no two lists are written alike.
func words(n int, word func(int) string) string {
	var all []byte
	for i := range n {
		all = binary.AppendUvarint(all, uint64(len(word(i))))
		all = append(all, word(i)...)
	}
	return string(all)
}

func envWords(env map[string]string) string {
	names := slices.Sorted(maps.Keys(env))
	return words(2*len(names), func(i int) string {
		if i%2 == 0 {
			return names[i/2]
		}
		return env[names[i/2]]
	})
}
