package ui

import (
	"encoding/json"
	"strings"
	"testing"

	"nbs-worker/internal/human"
	"nbs-worker/internal/sim/rig"
)

// What steers a terminal is in the JSON, for programs, and harmless, for eyes.
func TestJSONIsHarmlessAndWhole(t *testing.T) {
	t.Parallel()
	const text = "\x1b]0;x\a \u009b2J \x7f \u202e \u2066 \u061c \n\t < \u00e9 \U0001f980"
	var out strings.Builder
	f := &Factory{Streams: Streams{Out: &out}}
	rig.Must(t, f.PrintJSON(map[string]string{text: text}))
	line := strings.TrimSuffix(out.String(), "\n")
	rig.Check(t, !strings.ContainsFunc(line, human.IsUnclear) && !strings.ContainsAny(line, "\n\t"), "%q", line)
	var back map[string]string
	err := json.Unmarshal([]byte(out.String()), &back)
	rig.Check(t, err == nil && back[text] == text, "%q, %v", back, err)
	rig.Check(t, strings.Contains(out.String(), "< \u00e9 \U0001f980"), "escaped without need: %s", out.String())
}
