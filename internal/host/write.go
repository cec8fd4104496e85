package host

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"nbs-worker/internal/agent"
)

// heading is what a written file begins with.
const heading = "# Your other machines. What may stand here: nbs-worker help host\n"

// rewritten returns a file's text with other hosts. Hosts that did not change, and comments, stay as they are.
func rewritten(text []byte, hosts Hosts) ([]byte, error) {
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := loader.Load(&document); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var above []byte
	if len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode {
		above = []byte(heading)
		if comments := bytes.TrimSpace(text); len(document.Content) == 0 && len(comments) > 0 {
			above = slices.Concat(comments, []byte("\n"))
		}
		document = yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode}}}
		put(document.Content[0], "version", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: version})
	}
	root := document.Content[0]
	all := valueOf(root, "hosts")
	if all == nil || all.Kind != yaml.MappingNode {
		all = &yaml.Node{Kind: yaml.MappingNode}
		put(root, "hosts", all)
	}
	all.Style &^= yaml.FlowStyle
	for i := len(all.Content) - 2; i >= 0; i -= 2 {
		if !slices.ContainsFunc(hosts, func(h Host) bool { return h.Name == all.Content[i].Value }) {
			all.Content = slices.Delete(all.Content, i, i+2)
		}
	}
	for _, h := range hosts {
		entry := valueOf(all, h.Name)
		if entry == nil {
			entry = &yaml.Node{Kind: yaml.MappingNode}
			put(all, h.Name, entry)
		}
		put(entry, "destination", scalar(h.Destination))
		put(entry, "folder", scalar(h.Folder))
		put(entry, "program", scalar(h.Program))
		putLimits(entry, h.Limits)
	}
	out, err := yaml.Dump(&document)
	if err != nil {
		return nil, err
	}
	return slices.Concat(above, out), nil
}

// putLimits sets the limits of a host's entry.
func putLimits(entry *yaml.Node, limits agent.Room) {
	const name = "limits"
	if limits == (agent.Room{}) {
		put(entry, name, nil)
		return
	}
	if node := valueOf(entry, name); node == nil || node.Kind != yaml.MappingNode {
		put(entry, name, nil)
		put(entry, name, &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle})
	}
	node := valueOf(entry, name)
	put(node, "agents", number(limits.Agents))
	put(node, "running", number(limits.Running))
}

func number(n int) *yaml.Node {
	if n == 0 {
		return nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(n)}
}

func scalar(value string) *yaml.Node {
	if value == "" {
		return nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}

// valueOf returns the value of a name in a mapping; nil if it is not there.
func valueOf(mapping *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == name {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// put sets a name's value in a mapping, in place if it differs; nil removes the name.
func put(mapping *yaml.Node, name string, value *yaml.Node) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		switch {
		case mapping.Content[i].Value != name:
		case value == nil:
			mapping.Content = slices.Delete(mapping.Content, i, i+2)
			return
		default:
			if before := mapping.Content[i+1]; before.Kind != value.Kind || before.Value != value.Value { // hosts: without a value is a scalar
				mapping.Content[i+1] = value
			}
			return
		}
	}
	if value != nil {
		mapping.Content = append(mapping.Content, scalar(name), value)
	}
}
