package ui

import (
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// A resume that is to be repeated with --force keeps its other flags, for one agent.
func TestForcedResumeKeepsItsFlags(t *testing.T) {
	t.Parallel()
	runs := fail.Errorf(fail.Conflict, "the agent runs already").Hint("to start it again: nbs-worker resume web --force")
	for line, want := range map[string]string{
		"resume web --model haiku":             "nbs-worker resume web --model haiku --force",
		"--root /p resume api web --brief":     "nbs-worker resume web --brief --force",
		"resume --all --model haiku":           "nbs-worker resume web --model haiku --force",
		"resume WEB --tmux-socket s --no-wait": "nbs-worker resume web --no-wait --force",
	} {
		f := &Factory{Args: strings.Fields(line), Verb: "resume", handles: []agent.Handle{"api", "web"}}
		got := f.hintsOf(Failed(runs, "resume", "web"))
		rig.Equal(t, strings.Join(got, "\n"), "to start it again: "+want, "%s", line)
	}
	f := &Factory{Args: []string{"recover", "web"}, Verb: "recover"}
	rig.Equal(t, f.hintsOf(runs)[0], "to start it again: nbs-worker resume web --force", "recover")
}
