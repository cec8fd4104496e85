package ui

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
)

// What is to be done is said in words with a command that can be pasted; package triage decides it.
func TestAdvice(t *testing.T) {
	t.Parallel()
	auth := &inspect.LastError{Class: "authentication_failed"}
	for _, c := range []struct {
		view  inspect.View
		words string // of the first step
		want  []string
	}{
		{
			inspect.View{Sight: observe.Sight{Status: agent.Status{State: agent.Dead, Cause: agent.Crashed}}, LastError: auth},
			"bring it back: nbs-worker resume alpha", []string{"nbs-worker resume alpha", "nbs-worker attach alpha"},
		},
		{
			inspect.View{Sight: observe.Sight{Status: agent.Status{State: agent.Waiting}, Dialog: screen.DialogAPIKey}},
			"it asks whether to use the API key of the environment; answer in its terminal: nbs-worker attach alpha", []string{"nbs-worker attach alpha"},
		},
		{
			inspect.View{Sight: observe.Sight{Status: agent.Status{State: agent.Idle}}, Strangers: []observe.Stranger{{PID: 7}}},
			"two claudes have the conversation open, which forks it; end the other one, pid 7, in its terminal", []string{},
		},
		{
			inspect.View{Sight: observe.Sight{Status: agent.Status{State: agent.Dead, Cause: agent.Crashed}, Record: agent.Record{Restarts: agent.Restarts{Hold: &agent.Hold{Class: agent.EndCrash}}}}},
			"it failed again and again; read its last output first: nbs-worker session alpha --last-screen", []string{"nbs-worker session alpha --last-screen", "nbs-worker resume alpha"},
		},
		{inspect.View{Sight: observe.Sight{Status: agent.Status{State: agent.Idle}}}, "", []string{}},
	} {
		c.view.Record.Handle = "alpha"
		diff := cmp.Diff(c.want, (&Factory{}).CommandsOf(c.view, agent.DefaultBands))
		rig.Check(t, diff == "", "-want +got:\n%s", diff)
		words := ""
		if steps := Advice(c.view, agent.DefaultBands); len(steps) > 0 {
			words = steps[0].String()
		}
		rig.Check(t, words == c.words, "%q; want %q", words, c.words)
	}
}
