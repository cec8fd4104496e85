package inspect

import (
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// Only an agent in the state starting is said to be starting: a person would wait for it.
func TestWhyThereIsNoTerminal(t *testing.T) {
	t.Parallel()
	for want, status := range map[string]agent.Status{
		"the agent is being started":                                                {State: agent.Starting},
		"find the agent's terminal: the agent's state is unknown":                   {State: agent.Unknown},
		"find the agent's terminal: the agent's state is unknown, tmux is too busy": {State: agent.Unknown, Detail: "tmux is too busy"},
	} {
		err := errNoTerminal("alpha", status)
		first, _, _ := strings.Cut(err.Error(), "\n")
		rig.Equal(t, first, want, "%+v", status)
		rig.Check(t, fail.KindOf(err) == fail.Conflict, "%+v: kind %d", status, fail.KindOf(err))
	}
}
