package launcher

import (
	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/observe"
)

// Settings returns Claude's settings for an agent of the project, which uses a configuration.
func Settings(program string, in *store.Store, config claude.Config, spec *agent.Spec) string {
	return claude.Settings(program, observe.Closed(in), config.ChosenByUser(spec.ClaudeArgs), spec.TakesAnswers())
}
