package teamfile

import (
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/human"
)

// refused notes an error of a check, if there is one and the value is not empty, which is noted already.
func (p *parser) refused(node *yaml.Node, what string, err error) {
	if err != nil && node.Value != "" {
		p.Wrong(node, "%s: %v", what, err)
	}
}

// checked reads a text by a function that checks it.
func checked[T any](p *parser, node *yaml.Node, what string, check func(string) (T, error)) T {
	value, err := check(p.Text(node))
	p.refused(node, what, err)
	return value
}

// line reads one line for people.
func (p *parser) line(node *yaml.Node, what string) string {
	text := p.Text(node)
	if strings.ContainsAny(text, "\n\t") || !human.IsLegible(text) {
		p.Wrong(node, "%s: it must be one line of legible text", what)
	}
	return text
}

// prompt reads a prompt. White space around it is not part of it, as with spawn.
func (p *parser) prompt(node *yaml.Node, what string) string {
	text := strings.TrimSpace(p.Text(node))
	if node.Value != "" {
		p.checkPrompt(node, what, text)
	}
	return text
}

func (p *parser) checkPrompt(node *yaml.Node, what, text string) {
	if text == "" {
		p.Wrong(node, "%s: the prompt is empty", what)
	} else if err := claude.CheckPrompt(text); err != nil {
		p.Wrong(node, "%s: %v", what, err)
	}
}

// promptFile reads the path of a prompt file, and checks what is in the file.
func (p *parser) promptFile(node *yaml.Node, what string) string {
	path := p.below(node, what)
	if text, has := p.contents(node, what, path); has {
		p.checkPrompt(node, what+": "+human.Quote(path), strings.TrimSpace(text))
	}
	return path
}

// contents reads a file that the team file names, if files are read.
func (p *parser) contents(node *yaml.Node, what, path string) (text string, has bool) {
	if path == "" || p.readFile == nil || !filepath.IsLocal(path) {
		return "", false
	}
	text, err := p.readFile(path)
	if err != nil {
		p.Wrong(node, "%s: %s: %v", what, human.Quote(path), err)
	}
	return text, err == nil
}

// below reads the path of a file that must be in the folder of the team file.
func (p *parser) below(node *yaml.Node, what string) string {
	text := p.Text(node)
	if text == "" {
		return ""
	}
	path := filepath.Clean(text)
	if path == "." || !filepath.IsLocal(path) || !isPath(path) {
		p.Wrong(node, "%s: %s must be the path of a file in the folder of the team file", what, human.Quote(text))
	}
	return path
}

// folder reads a working directory.
func (p *parser) folder(node *yaml.Node, what string) string {
	text := p.Text(node)
	if text != "" && !isPath(text) {
		p.Wrong(node, "%s: working_dir: %s is no path", what, human.Quote(text))
	}
	if text == "" {
		return ""
	}
	return filepath.Clean(text)
}

func isPath(text string) bool {
	return !strings.ContainsAny(text, "\x00\n\t") && human.IsLegible(text)
}

func (p *parser) profiles(node *yaml.Node, what string) []string {
	profiles := p.Texts(node)
	for i, profile := range profiles {
		at := node
		if node.Kind == yaml.SequenceNode {
			at = node.Content[i]
		}
		if _, err := agent.ParseHandle(profile); err != nil && profile != "" {
			p.Wrong(at, "%s: %s is no name of a profile: use 1 to 64 letters, digits, '_' and '-', and begin with a letter or digit", what, human.Quote(profile))
		}
	}
	return profiles
}

// subagent reads the name of an agent of Claude's, such as those in .claude/agents.
func (p *parser) subagent(node *yaml.Node, what string) string {
	name := p.Text(node)
	if name != "" && !isSubagent(name) {
		p.Wrong(node, "%s: agent: %s is not the name of an agent of Claude's, such as reviewer", what, human.Quote(name))
	}
	return name
}

func isSubagent(name string) bool {
	return name != "" && !strings.HasPrefix(name, "-") && !strings.ContainsAny(name, " \t\n\x00") && human.IsLegible(name)
}

// args reads additional arguments for claude.
func (p *parser) args(node *yaml.Node, what string) []string {
	if node.Kind != yaml.SequenceNode {
		p.Wrong(node, "%s: args: a list belongs here, such as [--add-dir, ../docs]; no shell reads it", what)
		return nil
	}
	var args []string
	for _, item := range node.Content {
		word := p.Text(item)
		if word == "" {
			return nil
		}
		args = append(args, word)
		if err := cmdline.CheckExtraArgs(args); err != nil {
			p.Wrong(item, "%s: args: %v", what, err)
			return nil
		}
	}
	return args
}

// argsTwice refuses an option of claude that is given as a field and in args.
func (p *parser) argsTwice(d *draft, what string, has map[string]*yaml.Node) {
	for option, given := range map[string]bool{agentOption: d.subagent != "", effortOption: d.effort != ""} {
		field := strings.TrimPrefix(option, "--")
		at := has["args"]
		if at == nil {
			at = has[field]
		}
		if given && at != nil && slices.ContainsFunc(d.args, func(arg string) bool { return isOption(arg, option) }) {
			p.Wrong(at, "%s: %s is given twice, as a field and in args", what, field)
		}
	}
}

// isOption reports whether an argument gives an option, with or without a value in it.
func isOption(arg, name string) bool { return arg == name || strings.HasPrefix(arg, name+"=") }

// environment reads variables; those of the defaults stay.
func (p *parser) environment(d *draft, what string, node *yaml.Node) {
	what += ": environment"
	if node.Kind != yaml.MappingNode {
		p.Wrong(node, "%s: variables with their values belong here, such as {LANG: C}", what)
		return
	}
	if d.Environment == nil {
		d.Environment = map[string]string{}
	}
	seen := map[string]bool{}
	for name, value := range p.Pairs(node, what) {
		switch {
		case seen[name.Value]:
			p.Wrong(name, "%s: %s is there twice", what, human.Word(name.Value))
		case value.Kind != yaml.ScalarNode || value.Tag == "!!null" || value.Tag == "!!binary":
			p.Wrong(value, "%s: %s: a text belongs here; what the caller of up has exported reaches claude anyway", what, human.Word(name.Value))
		default:
			if err := CheckVariable(name.Value, value.Value); err != nil {
				p.Wrong(name, "%s: %v", what, err)
			}
		}
		seen[name.Value] = true
		d.Environment[name.Value] = value.Value
	}
}
