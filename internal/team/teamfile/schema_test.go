package teamfile

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"nbs-worker/internal/sim/rig"
)

// The published schema has each field, takes what the reader takes, and refuses unknown fields and words.
func TestSchema(t *testing.T) {
	t.Parallel()
	read, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	rig.Must(t, err)
	compiler := jsonschema.NewCompiler()
	rig.Must(t, compiler.AddResource("team.json", read))
	schema, err := compiler.Compile("team.json")
	rig.Must(t, err)
	properties := read.(map[string]any)["properties"].(map[string]any)
	rig.Same(t, "the fields of the file", slices.Sorted(slices.Values(rootFields)), slices.Sorted(maps.Keys(properties)))
	rig.Same(t, "the fields of a tree", slices.Sorted(slices.Values(treeFields)), slices.Sorted(maps.Keys(treeSchema())))
	for _, field := range slices.Concat(sharedFields, ownFields) {
		rig.Check(t, fieldSchema(field) != nil, "%s has no schema", field)
	}
	valid := func(text string) error {
		var value any
		rig.Must(t, yaml.Unmarshal([]byte(text), &value))
		return schema.Validate(value)
	}
	for _, text := range []string{wholeFile, "agents: {a: }", "defaults: {worktree: {setup: [npm, ci]}}\nagents: {a: {restart: no}}"} {
		rig.Must(t, valid(text))
	}
	for _, text := range []string{"version: 1", "agents: {}", "agent: {a: }", "agents: {a: {modle: x}}", "agents: {a: x}", "defaults: {prompt: x}\nagents: {a: }"} {
		rig.Check(t, valid(text) != nil, "%s is valid", text)
	}
	for field, wrong := range map[string]string{
		"effort": "hihg", "permission_mode": "Plan", "restart": "never", "memory": "'on'", "worktree": "{branc: x}", "depends_on": "{b: idle}",
		"args": "--verbose", "environment": "[A=b]", "settings": "[]", "budget": "5/month",
	} {
		rig.Check(t, valid(fmt.Sprintf("agents: {a: {%s: %s}}", field, wrong)) != nil, "%s: %s is valid", field, wrong)
	}
}
