package compose

import (
	"cmp"
	"path/filepath"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/supervisor"
	"nbs-worker/internal/team/teamfile"
)

// Home is what a team file is read with.
type Home struct {
	Project  string // absolute path of the project root
	Model    agent.Model
	Mode     agent.PermissionMode
	Variable func(name string) (value string, set bool) // of the caller
	Prompt   func(path string) (string, error)          // reads a prompt file
}

// Spec returns what the file says of an agent, as a start needs it. What the file does not say is as spawn has it.
func (h *Home) Spec(a *teamfile.Agent) (agent.Spec, error) {
	spec := agent.Spec{
		Handle: a.Handle, Model: cmp.Or(a.Model, h.Model), PermissionMode: cmp.Or(a.PermissionMode, h.Mode), ClaudeArgs: a.ClaudeArgs, Settings: a.Settings,
		Cwd: filepath.Join(h.Project, a.WorkingDir), InitialPrompt: strings.TrimSpace(a.Prompt), Memory: a.Memory, NoAnswers: a.NoAnswers,
	}
	if a.Budget != nil {
		spec.Budget = *a.Budget
	}
	if filepath.IsAbs(a.WorkingDir) {
		spec.Cwd = filepath.Clean(a.WorkingDir)
	}
	if a.ClaudesModel {
		spec.Model = ""
	}
	spec.Restart.Policy = cmp.Or(a.Restart, agent.RestartNo)
	if a.PromptFile != "" {
		text, err := h.Prompt(a.PromptFile)
		if err != nil {
			return spec, err
		}
		spec.InitialPrompt = strings.TrimSpace(text)
	}
	var err error
	spec.Env, err = h.environment(a.Environment)
	return spec, err
}

// environment replaces each ${NAME} by the caller's variable. Errors: BadInput for a variable that is not set.
func (h *Home) environment(written map[string]string) (map[string]string, error) {
	env := make(map[string]string, len(written))
	for name, text := range written {
		value, err := teamfile.Expand(text, h.Variable)
		if err != nil {
			return nil, fail.Errorf(fail.BadInput, "environment %s: %w", name, err)
		}
		env[name] = value
	}
	return env, nil
}

// SetOf returns the change that brings a record to the spec of an agent in the file, except for its folder. A budget that
// the file does not name stays.
func SetOf(spec *agent.Spec, a *teamfile.Agent) supervisor.Set {
	return supervisor.Set{
		Model: &spec.Model, PermissionMode: &spec.PermissionMode, Prompt: &spec.InitialPrompt, Restart: &spec.Restart.Policy,
		Memory: &spec.Memory, Answers: new(!spec.NoAnswers), Budget: a.Budget, Args: &spec.ClaudeArgs, Env: &spec.Env, Settings: &spec.Settings,
	}
}
