package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// The published schema is what the program prints, and is a schema.
func TestSchemaIsPublished(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(rig.Root(t), "internal/app/wire/schema.json"))
	rig.Must(t, err)
	rig.Check(t, run("schema").want(t, 0).out == string(text), "nbs-worker schema prints another one than was made from the types")
	var all struct {
		Schema string         `json:"$schema"`
		Defs   map[string]any `json:"$defs"`
	}
	err = json.Unmarshal(text, &all)
	rig.Check(t, err == nil && strings.Contains(all.Schema, "2020-12"), "%v, %s", err, all.Schema)
	for _, verb := range []string{"spawn", "adopt", "resume", "session", "list", "wait", "stop", "dismiss", "screen", "logs", "events", "doctor", "version"} {
		rig.Check(t, all.Defs[verb] != nil, "there is no schema of %s", verb)
	}
}
