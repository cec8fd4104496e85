package api

import "encoding/json"

// schema is the part of JSON Schema that the client's own side queries use.
type schema struct {
	Type       any               `json:"type"`
	Enum       []any             `json:"enum"`
	Const      any               `json:"const"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	AnyOf      []schema          `json:"anyOf"`
}

// demandJSON turns the answer into what a request for JSON can parse: an instance of the output schema, or the
// input of the tool that the client forces.
func (m message) demandJSON(a *answer) {
	for _, f := range []format{m.OutputConfig.Format, m.OutputFormat} {
		if f.Type == "json_schema" {
			data, _ := json.Marshal(instance(f.Schema, a.text)) // maps, strings and numbers always marshal
			a.text = string(data)
			return
		}
	}
	if m.ToolChoice.Type != "tool" {
		return
	}
	for _, t := range m.Tools {
		if t.Name == m.ToolChoice.Name {
			input, _ := json.Marshal(instance(t.InputSchema, a.text))
			a.tools = []call{{t.Name, input}}
		}
	}
}

// instance is the simplest value that satisfies the schema; its strings are text.
func instance(s schema, text string) any {
	switch {
	case s.Const != nil:
		return s.Const
	case len(s.Enum) > 0:
		return s.Enum[0]
	case len(s.AnyOf) > 0:
		return instance(s.AnyOf[0], text)
	}
	switch typeOf(s) {
	case "object":
		object := map[string]any{}
		for _, name := range s.Required {
			object[name] = instance(s.Properties[name], text)
		}
		return object
	case "array":
		return []any{}
	case "number", "integer":
		return 0
	case "boolean":
		return false
	case "null":
		return nil
	}
	return text
}

// typeOf reads `"type":"string"` and `"type":["string","null"]`.
func typeOf(s schema) string {
	switch t := s.Type.(type) {
	case string:
		return t
	case []any:
		if len(t) > 0 {
			name, _ := t[0].(string)
			return name
		}
	}
	return ""
}
