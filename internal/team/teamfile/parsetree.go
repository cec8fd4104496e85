package teamfile

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
)

// worktree reads true, false, or how the worktree is made.
func (p *parser) worktree(node *yaml.Node, what string) *Worktree {
	what += ": worktree"
	if node.Kind != yaml.MappingNode {
		if node.Value != "true" && node.Value != "false" {
			p.Wrong(node, "%s: true, false, or fields belong here: branch, base, link, setup", what)
		}
		if node.Value != "true" {
			return nil
		}
		return &Worktree{}
	}
	w := &Worktree{}
	has := p.Fields(node, what, treeFields...)
	if node := has["branch"]; node != nil {
		w.Branch = p.Text(node)
		p.refused(node, what+": branch", agent.CheckBranch(w.Branch))
	}
	if node := has["base"]; node != nil {
		if w.Base = p.Text(node); strings.HasPrefix(w.Base, "-") || strings.ContainsAny(w.Base, " \t\n\x00") || !human.IsLegible(w.Base) {
			p.Wrong(node, "%s: base: %s is not the name of a commit, a branch or a tag", what, human.Quote(w.Base))
		}
	}
	if node := has["link"]; node != nil {
		w.Link = p.links(node, what)
	}
	if node := has["setup"]; node != nil {
		w.Setup = p.setup(node, what)
	}
	return w
}

var treeFields = []string{"branch", "base", "link", "setup"}

// links reads the names that a tree shares with the main one.
func (p *parser) links(node *yaml.Node, what string) []string {
	if node.Kind != yaml.SequenceNode {
		p.Wrong(node, "%s: link: a list belongs here, such as [node_modules]", what)
		return nil
	}
	names := p.Texts(node)
	for i, name := range names {
		p.refused(node.Content[i], what, agent.CheckLink(name))
	}
	return names
}

// setup reads a program with its arguments.
func (p *parser) setup(node *yaml.Node, what string) (argv []string) {
	if node.Kind == yaml.SequenceNode {
		argv = p.Texts(node)
	}
	if err := agent.CheckSetup(argv); err != nil {
		p.Wrong(node, "%s: %v", what, err)
	}
	return argv
}
