package teamfile

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/human"
)

// Of returns a file that describes agents as they are recorded.
func Of(project string, records []agent.Record) *File {
	f := &File{}
	for i := range records {
		f.Agents = append(f.Agents, agentOf(project, &records[i].Spec))
	}
	return f
}

func agentOf(project string, s *agent.Spec) Agent {
	a := Agent{
		Handle: s.Handle, Model: s.Model, ClaudesModel: s.Model == "", PermissionMode: s.LaunchPermissionMode(), ClaudeArgs: s.ClaudeArgs, Settings: s.Settings,
		Restart: s.LaunchRestart(), Prompt: s.InitialPrompt, Memory: s.Memory, NoAnswers: s.NoAnswers,
	}
	if s.Budget != "" {
		a.Budget = &s.Budget
	}
	for name, value := range s.Env {
		if a.Environment == nil {
			a.Environment = map[string]string{}
		}
		a.Environment[name] = strings.ReplaceAll(value, "${", "$${")
	}
	if own := s.OwnWorktree; own != (agent.OwnWorktree{}) {
		a.Worktree = &Worktree{}
		if own.Branch != agent.OwnBranch(s.Handle) {
			a.Worktree.Branch = own.Branch
		}
		return a
	}
	if cwd := s.LaunchCwd(); cwd != project {
		a.WorkingDir = cwd
		if below, err := filepath.Rel(project, cwd); err == nil && filepath.IsLocal(below) {
			a.WorkingDir = below
		}
	}
	return a
}

// heading is what a written file begins with.
const heading = "# The team of this project. What may stand here: nbs-worker help team\n"

// Format returns the file as YAML. What is as usual is left out. Errors: none of a file that was parsed.
func (f *File) Format() ([]byte, error) {
	root := mapping(
		"version", text(Version),
		"name", text(f.Name),
	)
	agents := mapping()
	for i := range f.Agents {
		add(agents, string(f.Agents[i].Handle), f.Agents[i].node())
	}
	add(root, "agents", agents)
	if len(f.Groups) > 0 {
		groups := mapping()
		for _, g := range f.Groups {
			add(groups, g.Name, list(agent.Mapped(g.Members, func(h agent.Handle) string { return string(h) })))
		}
		add(root, "groups", groups)
	}
	body, err := yaml.Dump(root)
	return append([]byte(heading), body...), err
}

// node returns an agent as YAML.
func (a *Agent) node() *yaml.Node {
	args := a.ClaudeArgs
	option := func(name string, known func(value string) bool) string {
		if len(args) < 2 || args[0] != name || !known(args[1]) || slices.ContainsFunc(args[2:], func(arg string) bool { return isOption(arg, name) }) {
			return ""
		}
		value := args[1]
		args = args[2:]
		return value
	}
	subagent := option(agentOption, isSubagent)
	effort := option(effortOption, func(value string) bool { return slices.Contains(claude.Efforts, value) })
	model := string(a.Model)
	switch {
	case a.ClaudesModel:
		model = claudesModel
	case a.Model == claudesModel || a.Model.Suggestion() != "":
		model = agent.Exactly + model
	}
	restart := string(a.Restart)
	if a.Restart == agent.RestartNo {
		restart = ""
	}
	budget := ""
	if a.Budget != nil {
		budget = a.Budget.Word()
	}
	node := mapping(
		"description", text(a.Description),
		"profiles", list(a.Profiles),
		"depends_on", a.dependencies(),
		"model", text(model),
		"permission_mode", text(string(a.PermissionMode)),
		"agent", text(subagent),
		"effort", text(effort),
		"settings", a.settings(),
		"args", list(args),
		"environment", variables(a.Environment),
		"working_dir", text(a.WorkingDir),
		"worktree", a.Worktree.node(),
		"restart", text(restart),
		"budget", text(budget),
		"prompt", text(a.Prompt),
		"prompt_file", text(a.PromptFile),
	)
	if a.Memory {
		add(node, "memory", yes())
	}
	if a.NoAnswers {
		add(node, "answers", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "false"})
	}
	return node
}

func (a *Agent) dependencies() *yaml.Node {
	if !slices.ContainsFunc(a.DependsOn, func(d Dependency) bool { return d.Condition != Ready }) {
		return list(agent.Mapped(a.DependsOn, func(d Dependency) string { return string(d.On) }))
	}
	node := mapping()
	for _, d := range a.DependsOn {
		add(node, string(d.On), mapping("condition", text(string(d.Condition))))
	}
	return node
}

func (a *Agent) settings() *yaml.Node {
	if a.SettingsFile != "" {
		return text(a.SettingsFile)
	}
	return settingsNode(a.Settings)
}

func (w *Worktree) node() *yaml.Node {
	switch {
	case w == nil:
		return nil
	case w.Branch == "" && w.Base == "" && len(w.Link) == 0 && len(w.Setup) == 0:
		return yes()
	}
	return mapping("branch", text(w.Branch), "base", text(w.Base), "link", list(w.Link), "setup", list(w.Setup))
}

func yes() *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"} }

// text returns a text as YAML; nil for none.
func text(value string) *yaml.Node {
	if value == "" {
		return nil
	}
	return scalar(value)
}

func scalar(value string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
	switch {
	case !human.IsLegible(value) || strings.Contains(value, "\t"):
		node.Style = yaml.DoubleQuotedStyle
	case strings.Contains(value, "\n"):
		node.Style = yaml.LiteralStyle
	}
	return node
}

// list returns a list of texts as YAML; nil for an empty one.
func list(values []string) *yaml.Node {
	if len(values) == 0 {
		return nil
	}
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle, Content: agent.Mapped(values, scalar)}
}

// variables returns variables as YAML; nil for none.
func variables(env map[string]string) *yaml.Node {
	if len(env) == 0 {
		return nil
	}
	node := mapping()
	for _, name := range slices.Sorted(maps.Keys(env)) {
		add(node, name, scalar(env[name]))
	}
	return node
}

// mapping returns a mapping of names and nodes. What is nil is left out.
func mapping(pairs ...any) *yaml.Node {
	node := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i := 0; i+1 < len(pairs); i += 2 {
		add(node, pairs[i].(string), pairs[i+1].(*yaml.Node))
	}
	return node
}

func add(to *yaml.Node, name string, value *yaml.Node) {
	if value != nil {
		to.Content = append(to.Content, scalar(name), value)
	}
}
