package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// A verb that takes several handles prints an array, of one too, and of one for which it failed; and the schema says so.
func TestOneShapeForEachVerb(t *testing.T) {
	t.Parallel()
	alpha := uitest.Record("alpha")
	alpha.ProjectRoot = t.TempDir()
	project := newProject(t, alpha)
	var schema struct {
		Defs map[string]struct {
			Description string
			AnyOf       []struct{ Type string }
		} `json:"$defs"`
	}
	rig.Must(t, json.Unmarshal(wire.Schema, &schema))
	for _, line := range []string{
		"session alpha", "session nosuch", "resume alpha --dry-run", "resume nosuch", "stop alpha", "wait alpha --for gone", "reset nosuch", "interrupt alpha", "interrupt nosuch",
		"send alpha hello", "send nosuch hello", "dismiss nosuch", "dismiss alpha",
	} {
		r := run(append([]string{"--root", project}, append(strings.Fields(line), "--json")...)...)
		var all []struct {
			Handle string
			Error  *wire.Error
		}
		err := json.Unmarshal([]byte(r.out), &all)
		rig.Check(t, err == nil && len(all) == 1 && all[0].Handle == strings.Fields(line)[1], "%s: %v, %s", line, err, r.out)
		rig.Check(t, !strings.Contains(line, "nosuch") || r.code == int(fail.NotFound) && strings.HasPrefix(r.err, `{"handle":"nosuch","error":`), "%s: %d, %s", line, r.code, r.err)
		verb := schema.Defs[strings.Fields(line)[0]]
		rig.Check(t, strings.HasPrefix(verb.Description, "an array, also for one handle") && len(verb.AnyOf) == 1 && verb.AnyOf[0].Type == "array", "the schema of %s: %+v", line, verb)
	}
	for verb, want := range map[string]string{"list": "an array", "triage": "an array", "recover": "an array", "export": "an array", "spawn": "one object", "outbox": "an array if the verb lists, otherwise one object", "events": "one object on each line"} {
		rig.Equal(t, schema.Defs[verb].Description, want, "the schema of %s", verb)
	}
}
