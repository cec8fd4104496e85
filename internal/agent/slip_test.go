package agent_test

import (
	"testing"

	"nbs-worker/internal/agent"
)

func TestNearestHandle(t *testing.T) {
	t.Parallel()
	there := []agent.Handle{"theologian", "gatekeeper", "scout", "scout-2", "Al"}
	for typed, want := range map[agent.Handle]agent.Handle{
		"theologan":   "theologian",
		"Theologiann": "theologian",
		"theo":        "theologian",
		"gate":        "gatekeeper",
		"sc":          "",
		"scou":        "scout",
		"sco":         "", // two begin like it
		"alfred":      "",
		"al2":         "Al",
		"nobody":      "",
	} {
		if got := typed.Nearest(there); got != want {
			t.Errorf("%s: %q; want %q", typed, got, want)
		}
	}
}
