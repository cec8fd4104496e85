package schedule

import (
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// A turn can be enriched, a message to an agent cannot.
func TestEnrichOfAnEntry(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"": false, ", enrich: true": true, ", enrich: false": false} {
		file, err := Parse("schedules.yaml", []byte("schedules: {a: {every: 1h, prompt: x"+value+"}}"))
		rig.Check(t, err == nil && file.Entries[0].Enrich == want, "%q: %+v, %v", value, file, err)
	}
	for text, want := range map[string]string{
		"{every: 1h, prompt: x, enrich: yes}":                     `enrich: "yes" must be true or false`,
		"{every: 1h, prompt: x, enrich: [true]}":                  "must be true or false",
		"{every: 1h, send: {to: alpha, text: Go.}, enrich: true}": "enrich belongs to a turn",
	} {
		_, err := Parse("schedules.yaml", []byte("schedules: {a: "+text+"}"))
		rig.Check(t, err != nil && strings.Contains(err.Error(), want), "%s: %v", text, err)
	}
}
