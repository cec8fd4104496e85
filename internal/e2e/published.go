package e2e

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/sim/rig"
)

// Published are the schemas of what each verb prints, by verb, so strict that a field which is
// not in them is an error: a field in the JSON is a promise.
var Published = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(wire.Schema))
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

// CheckSchema holds what a command with --json has printed to the published schema: on stdout
// what is of the verb, on stderr errors and notes and nothing else.
func CheckSchema(t testing.TB, args []string, r Result) {
	t.Helper()
	verb := VerbOf(args[1:])
	if slices.Contains(args, "--watch") {
		verb += "-watch"
	}
	if slices.Contains(args, "--hosts") {
		verb = "hosts"
	}
	if verb == "" || !slices.Contains(args, "--json") || slices.Contains(args, "--help") {
		return
	}
	schemas, err := Published()
	rig.Must(t, err)
	for line := range strings.Lines(r.Stdout) {
		CheckLine(t, schemas[verb], args, line)
	}
	for line := range strings.Lines(r.Stderr) {
		CheckLine(t, schemas["stderr"], args, line)
	}
}

func CheckLine(t testing.TB, schema *jsonschema.Schema, args []string, line string) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		t.Errorf("nbs-worker %q prints what is not of its schema: %v\n%s", args[1:], err, line)
	}
}

// VerbOf is the verb of a command line, if it is one that has a schema.
func VerbOf(args []string) string {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--root" || args[i] == "--tmux-socket":
			i++
		case !strings.HasPrefix(args[i], "-"):
			if schemas, err := Published(); err == nil && schemas[args[i]] != nil {
				return args[i]
			}
			return ""
		}
	}
	return ""
}

func Readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(rig.Root(t), "README.md"))
	rig.Must(t, err)
	return string(text)
}

func Number(t *testing.T, variable string, standard int) int {
	t.Helper()
	n, err := strconv.Atoi(cmp.Or(os.Getenv(variable), strconv.Itoa(standard)))
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}
