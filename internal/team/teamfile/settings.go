package teamfile

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"nbs-worker/internal/claude"
	"nbs-worker/internal/human"
)

// settings reads settings of Claude's: fields, an object in JSON, or the path of a file with one.
func (p *parser) settings(node *yaml.Node, what string) (settings, file string) {
	if node.Kind == yaml.MappingNode {
		before := p.Mistakes()
		value := p.json(node, what)
		if p.Mistakes() > before {
			return "", ""
		}
		text, _ := json.Marshal(value) // of texts, numbers and switches: it cannot fail
		return p.parsedSettings(node, what, string(text)), ""
	}
	if claude.NamesSettings(node.Value) {
		return p.parsedSettings(node, what, p.Text(node)), ""
	}
	file = p.below(node, what)
	if text, has := p.contents(node, what, file); has {
		settings = p.parsedSettings(node, what, text)
	}
	return settings, file
}

func (p *parser) parsedSettings(node *yaml.Node, what, text string) string {
	settings, err := claude.ParseSettings(text)
	if err != nil {
		p.Wrong(node, "%s: %v", what, err)
	}
	return settings
}

// json returns a node as a value of JSON. A reference could make it endless.
func (p *parser) json(node *yaml.Node, what string) any {
	switch node.Kind {
	case yaml.MappingNode:
		object := map[string]any{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			name := node.Content[i]
			switch _, twice := object[name.Value]; {
			case name.Kind != yaml.ScalarNode || name.Tag == "!!merge":
				p.Wrong(name, "%s: a name as in JSON belongs here", what)
			case twice:
				p.Wrong(name, "%s: %s is there twice", what, human.Word(name.Value))
			}
			object[name.Value] = p.json(node.Content[i+1], what)
		}
		return object
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range node.Content {
			list = append(list, p.json(item, what))
		}
		return list
	case yaml.ScalarNode:
		return p.scalarJSON(node, what)
	default:
		p.Wrong(node, "%s: a reference cannot stand here", what)
		return nil
	}
}

func (p *parser) scalarJSON(node *yaml.Node, what string) any {
	switch node.Tag {
	case "!!null":
		return nil
	case "!!bool":
		return p.Yes(node, what)
	case "!!int", "!!float":
		if !json.Valid([]byte(node.Value)) {
			p.Wrong(node, "%s: %s is no number as in JSON; for a text write it in quotes", what, node.Value)
			return nil
		}
		return json.Number(node.Value)
	case "!!str":
		return node.Value
	default:
		p.Wrong(node, "%s: a value as in JSON belongs here", what)
		return nil
	}
}

// settingsNode returns settings as YAML; nil for none.
func settingsNode(settings string) *yaml.Node {
	if settings == "" {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(settings)))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return scalar(settings)
	}
	return jsonNode(value)
}

func jsonNode(value any) *yaml.Node {
	plain := func(tag, text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text} }
	switch value := value.(type) {
	case map[string]any:
		node := mapping()
		for _, name := range slices.Sorted(maps.Keys(value)) {
			add(node, name, jsonNode(value[name]))
		}
		return node
	case []any:
		node := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, item := range value {
			node.Content = append(node.Content, jsonNode(item))
		}
		return node
	case bool:
		return plain("!!bool", strconv.FormatBool(value))
	case json.Number:
		tag := "!!int"
		if _, err := strconv.ParseInt(value.String(), 10, 64); err != nil {
			tag = "!!float"
		}
		return plain(tag, value.String())
	case string:
		return scalar(value)
	default:
		return plain("!!null", "null")
	}
}
