package life

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// The published schema is what the program prints, and is a schema.
func TestSchemaIsPublished(t *testing.T) {
	m := standIn(t)
	text, err := os.ReadFile("../../wire/schema.json")
	m.Must(err)
	out := m.OK("schema")
	m.Check(out == string(text), "nbs-worker schema prints another one than was made from the types")
	var all struct {
		Schema string         `json:"$schema"`
		Defs   map[string]any `json:"$defs"`
	}
	err = json.Unmarshal(text, &all)
	m.Check(err == nil && strings.Contains(all.Schema, "2020-12"), "%v, %s", err, all.Schema)
	for _, verb := range []string{"spawn", "adopt", "resume", "session", "list", "wait", "stop", "dismiss", "screen", "logs", "events", "doctor", "version"} {
		m.Check(all.Defs[verb] != nil, "there is no schema of %s", verb)
	}
}
