package ui

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
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

// An error fits the terminal: it breaks between words, and its command stands on a line that can be pasted. What quotes
// another program keeps its margin. A hint with a command of another program is not broken, and nothing is in a pipe.
func TestErrorFitsTheTerminal(t *testing.T) {
	t.Parallel()
	err := Failed(fail.Errorf(fail.Held, "claude waits at a dialog: it asks whether it trusts the folder (trust). It shows:\n%s",
		"Quick safety check: Is this a project you created or one you trust? If not, take a moment to review it first.").
		Hint("or let claude trust the folder, which ends what it does now: nbs-worker resume a --force --trust=/home/u/a-project-with-a-long-name").
		Hint("git -C /home/u/a-project-with-a-long-name/and-a-folder diff --stat main...nbs/a -- cart.go price.go"), "spawn", "a")
	printed := func(streams Streams) string {
		out := &bytes.Buffer{}
		streams.Err = out
		f := &Factory{Streams: streams}
		f.Report(err)
		return out.String()
	}
	rig.Equal(t, printed(Streams{ErrTTY: true, OutTTY: true, Width: 80}), `nbs-worker: spawn a: claude waits at a dialog: it asks whether it trusts the
  folder (trust). It shows:
  Quick safety check: Is this a project you created or one you trust? If not,
  take a moment to review it first.
hint: or let claude trust the folder, which ends what it does now:
  nbs-worker resume a --force --trust=/home/u/a-project-with-a-long-name
hint: git -C /home/u/a-project-with-a-long-name/and-a-folder diff --stat main...nbs/a -- cart.go price.go
`, "on a terminal")
	piped := printed(Streams{Width: 80})
	rig.Equal(t, strings.Count(piped, "\n"), 4, "the lines in a pipe:\n%s", piped)
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
