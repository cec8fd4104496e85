package schedule

import (
	"go.yaml.in/yaml/v4"

	"nbs-worker/internal/platform/strictyaml"
	"nbs-worker/internal/store/conversations"
)

// rights reads what Claude may do in the turn of an entry, and what a refused tool makes of it.
func (p *parser) rights(e *Entry, has map[string]*yaml.Node) {
	if node := has["permission_mode"]; node != nil {
		rights, err := conversations.ParseRights(p.Text(node))
		if err != nil {
			p.Wrong(node, "%s: %v", e.Name, err)
		}
		e.Rights.PermissionMode = rights.PermissionMode
	}
	if node := has["allowed_tools"]; node != nil {
		rules := []*yaml.Node{node}
		if node.Kind == yaml.SequenceNode {
			rules = node.Content
		}
		var given []string
		for _, rule := range rules {
			given = append(given, p.Text(rule))
		}
		rights, err := conversations.ParseRights("", given...)
		if err != nil {
			p.Wrong(node, "%s: %v", e.Name, err)
		}
		e.Rights.AllowedTools = rights.AllowedTools
	}
	if node := has["on_denied"]; node != nil {
		e.OnDenied = strictyaml.OneOf(p.Reader, node, "on_denied", DeniedAnswer, DeniedFail)
	}
}
