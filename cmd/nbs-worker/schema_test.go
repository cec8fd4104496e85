package main

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"nbs-worker/internal/sim/rig"
)

// published are the schemas of what each verb prints, by verb, so strict that a field which is
// not in them is an error: a field in the JSON is a promise.
var published = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	text, err := os.ReadFile("../../internal/wire/schema.json")
	if err != nil {
		return nil, err
	}
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	definitions := whole.(map[string]any)["$defs"].(map[string]any)
	for _, definition := range definitions {
		if object := definition.(map[string]any); object["properties"] != nil {
			object["additionalProperties"] = false
		}
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("nbs-worker.json", whole); err != nil {
		return nil, err
	}
	all := map[string]*jsonschema.Schema{}
	for name := range definitions {
		if all[name], err = compiler.Compile("nbs-worker.json#/$defs/" + name); err != nil {
			return nil, err
		}
	}
	return all, nil
})

// checkSchema holds what a command with --json has printed to the published schema: on stdout
// what is of the verb, on stderr errors and notes and nothing else.
func checkSchema(t testing.TB, args []string, r result) {
	t.Helper()
	verb := verbOf(args[1:])
	if verb == "" || !slices.Contains(args, "--json") || slices.Contains(args, "--help") {
		return
	}
	schemas, err := published()
	rig.Must(t, err)
	for line := range strings.Lines(r.stdout) {
		checkLine(t, schemas[verb], args, line)
	}
	for line := range strings.Lines(r.stderr) {
		checkLine(t, schemas["stderr"], args, line)
	}
}

func checkLine(t testing.TB, schema *jsonschema.Schema, args []string, line string) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		t.Errorf("nbs-worker %q prints what is not of its schema: %v\n%s", args[1:], err, line)
	}
}

// verbOf is the verb of a command line, if it is one that has a schema.
func verbOf(args []string) string {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--root" || args[i] == "--tmux-socket":
			i++
		case !strings.HasPrefix(args[i], "-"):
			if schemas, err := published(); err == nil && schemas[args[i]] != nil {
				return args[i]
			}
			return ""
		}
	}
	return ""
}

// The published schema is what the program prints, and is a schema.
func TestSchemaIsPublished(t *testing.T) {
	m := standIn(t)
	text, err := os.ReadFile("../../internal/wire/schema.json")
	m.must(err)
	out := m.ok("schema")
	m.check(out == string(text), "nbs-worker schema prints another one than was made from the types")
	var all struct {
		Schema string         `json:"$schema"`
		Defs   map[string]any `json:"$defs"`
	}
	err = json.Unmarshal(text, &all)
	m.check(err == nil && strings.Contains(all.Schema, "2020-12"), "%v, %s", err, all.Schema)
	for _, verb := range []string{"spawn", "adopt", "resume", "session", "list", "wait", "stop", "dismiss", "screen", "logs", "events", "doctor", "version"} {
		m.check(all.Defs[verb] != nil, "there is no schema of %s", verb)
	}
}
