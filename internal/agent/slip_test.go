package agent_test

import (
	"testing"

	"nbs-worker/internal/agent"

	"nbs-worker/internal/sim/rig"
)

func TestNearestHandle(t *testing.T) {
	t.Parallel()
	there := []agent.Handle{"theologian", "gatekeeper", "scout", "scout-2", "Al"}
	for typed, want := range map[agent.Handle]agent.Handle{
		"theologan":   "theologian",
		"Theologiann": "theologian",
		"theo":        "theologian",
		"gate":        "gatekeeper",
		"sc":          "", // two begin like it
		"t":           "theologian",
		"":            "",
		"scou":        "scout",
		"sco":         "", // two begin like it
		"alfred":      "",
		"al2":         "Al",
		"nobody":      "",
	} {
		rig.Equal(t, typed.Nearest(there), want, "%s", typed)
	}
}
