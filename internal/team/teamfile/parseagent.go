package teamfile

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v4"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/strictyaml"
)

// sharedFields may stand in an agent and in the defaults, ownFields only in an agent.
var (
	sharedFields = []string{"model", "permission_mode", "agent", "effort", "settings", "args", "environment", "working_dir", "restart", "memory", "answers", "budget", "worktree"}
	ownFields    = []string{"description", "profiles", "depends_on", "prompt", "prompt_file"}
)

// claudesModel stands for the model that Claude chooses.
const claudesModel = "default"

// The options of claude that have a field of their own.
const (
	agentOption  = "--agent"
	effortOption = "--effort"
)

// draft is an agent that is being read.
type draft struct {
	Agent

	subagent, effort string // claude's --agent and --effort
	args             []string
}

func (p *parser) defaults(node *yaml.Node) {
	has := p.Fields(node, "defaults", sharedFields...)
	p.shared(&p.usual, "defaults", has)
	if w := p.usual.Worktree; w != nil && w.Branch != "" {
		p.Wrong(has["worktree"], "defaults: worktree: two agents cannot share a branch; leave branch away: each gets nbs/<handle>")
	}
}

// agent reads one agent. Without a value, everything is as in the defaults.
func (p *parser) agent(handle agent.Handle, node *yaml.Node) {
	d := p.usual
	d.Handle, d.Environment = handle, maps.Clone(p.usual.Environment)
	d.Restart = agent.RestartNo
	if p.usual.Restart != "" {
		d.Restart = p.usual.Restart
	}
	if node.Kind != yaml.ScalarNode || node.Tag != "!!null" {
		what := string(handle)
		has := p.Fields(node, what, slices.Concat(ownFields, sharedFields)...)
		p.own(&d, what, has)
		p.shared(&d, what, has)
	}
	if d.subagent != "" {
		d.ClaudeArgs = append(d.ClaudeArgs, agentOption, d.subagent)
	}
	if d.effort != "" {
		d.ClaudeArgs = append(d.ClaudeArgs, effortOption, d.effort)
	}
	d.ClaudeArgs = append(d.ClaudeArgs, d.args...)
	p.file.Agents = append(p.file.Agents, d.Agent)
}

// own reads what only an agent has.
func (p *parser) own(d *draft, what string, has map[string]*yaml.Node) {
	if node := has["description"]; node != nil {
		d.Description = p.line(node, what+": description")
	}
	if node := has["profiles"]; node != nil {
		d.Profiles = p.profiles(node, what)
	}
	if node := has["depends_on"]; node != nil {
		p.dependsOn(d, what, node)
	}
	if node := has["prompt"]; node != nil {
		d.Prompt = p.prompt(node, what)
	}
	if node := has["prompt_file"]; node != nil {
		if has["prompt"] != nil {
			p.Wrong(node, "%s: prompt and prompt_file exclude each other", what)
		}
		d.PromptFile = p.promptFile(node, what+": prompt_file")
	}
}

// shared reads what an agent and the defaults have.
func (p *parser) shared(d *draft, what string, has map[string]*yaml.Node) {
	if node := has["model"]; node != nil {
		d.Model, d.ClaudesModel = "", node.Value == claudesModel
		if !d.ClaudesModel {
			d.Model = checked(p, node, what, agent.ChooseModel)
		}
	}
	if node := has["permission_mode"]; node != nil {
		d.PermissionMode = strictyaml.OneOf(p.Reader, node, what+": permission_mode", agent.PermissionModes...)
	}
	if node := has["effort"]; node != nil {
		d.effort = strictyaml.OneOf(p.Reader, node, what+": effort", claude.Efforts...)
	}
	if node := has["agent"]; node != nil {
		d.subagent = p.subagent(node, what)
	}
	if node := has["restart"]; node != nil {
		d.Restart = strictyaml.OneOf(p.Reader, node, what+": restart", agent.RestartWords...)
	}
	if node := has["args"]; node != nil {
		d.args = p.args(node, what)
	}
	p.argsTwice(d, what, has)
	if node := has["settings"]; node != nil {
		d.Settings, d.SettingsFile = p.settings(node, what+": settings")
	}
	if node := has["environment"]; node != nil {
		p.environment(d, what, node)
	}
	if node := has["memory"]; node != nil {
		d.Memory = p.Yes(node, what+": memory")
	}
	if node := has["answers"]; node != nil {
		d.NoAnswers = !p.Yes(node, what+": answers")
	}
	if node := has["budget"]; node != nil {
		d.Budget = new(checked(p, node, what+": budget", agent.ParseBudget))
	}
	p.place(d, what, has)
}

// place reads where an agent works: its own choice replaces that of the defaults.
func (p *parser) place(d *draft, what string, has map[string]*yaml.Node) {
	folder, tree := has["working_dir"], has["worktree"]
	if folder != nil {
		d.WorkingDir, d.Worktree = p.folder(folder, what), nil
	}
	if tree == nil {
		return
	}
	d.Worktree = p.worktree(tree, what)
	if d.Worktree == nil {
		return
	}
	if folder != nil {
		p.Wrong(tree, "%s: worktree and working_dir exclude each other", what)
	}
	d.WorkingDir = ""
}

// dependsOn reads a list of agents, or a mapping from an agent to a condition.
func (p *parser) dependsOn(d *draft, what string, node *yaml.Node) {
	what += ": depends_on"
	add := func(on *yaml.Node, condition Condition) {
		handle := agent.Handle(p.Text(on))
		if slices.ContainsFunc(d.DependsOn, func(other Dependency) bool { return other.On.Same(handle) }) {
			p.Wrong(on, "%s: %s is there twice", what, human.Quote(string(handle)))
			return
		}
		if handle != "" {
			d.DependsOn = append(d.DependsOn, Dependency{handle, condition})
			p.needs = append(p.needs, need{d.Handle, on})
		}
	}
	switch node.Kind {
	case yaml.SequenceNode:
		for _, item := range node.Content {
			add(item, Ready)
		}
	case yaml.MappingNode:
		for on, value := range p.Pairs(node, what) {
			condition := Ready
			if has := p.Fields(value, what+": "+human.Word(on.Value), "condition"); has["condition"] != nil {
				condition = strictyaml.OneOf(p.Reader, has["condition"], what+": condition", Conditions...)
			} else if has != nil {
				p.Wrong(value, "%s: it is not said what to wait for; say {condition: ready}", what)
			}
			add(on, condition)
		}
	default:
		p.Wrong(node, "%s: a list of agents belongs here, such as [alice], or {alice: {condition: idle}}", what)
	}
}
