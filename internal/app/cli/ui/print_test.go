package ui

import (
	"bytes"
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

// The line of a result fits the terminal, and is whole in a pipe.
func TestResultFitsTheTerminal(t *testing.T) {
	t.Parallel()
	made := Outcome{Handle: "api", Words: "idle, model opus, bypassPermissions, session 00000000-0000-4000-8000-000000000000, tmux nbs-shop-api"}
	shown := func(width int) string {
		out := &bytes.Buffer{}
		f := &Factory{Streams: Streams{Out: out, OutTTY: true, Width: width}}
		rig.Must(t, f.Show(made, " (1 of 3)"))
		return out.String()
	}
	whole := "api: " + made.Words + " (1 of 3)"
	rig.Equal(t, shown(0), whole+"\n", "without a width")
	for line := range strings.Lines(shown(80)) {
		rig.Check(t, len(line) <= 80, "%d columns: %s", len(line), line)
	}
	rig.Equal(t, strings.Join(strings.Fields(shown(80)), " "), whole, "the words")
}
