package launcher

import (
	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/observe"
)

// Settings returns Claude's settings for an agent of the project, which uses a configuration: ours, joined with the
// agent's own. Errors: BadInput for a record whose settings cannot be read.
func Settings(program string, in *store.Store, config claude.Config, spec *agent.Spec) (string, error) {
	chosen := config.ChosenByUser(spec.ClaudeArgs).With(spec.Settings)
	return claude.JoinSettings(claude.Settings(program, observe.Closed(in), chosen, spec.TakesAnswers()), spec.Settings)
}
