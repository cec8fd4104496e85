package agents

import (
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
)

// What set has changed is taken by a start; other drift a person has to look at.
func TestAdviceOnDrift(t *testing.T) {
	t.Parallel()
	view := inspect.View{Sight: ranAs("alpha", "haiku", "claude-opus-5-5").Sight, Drift: []observe.Drift{{Field: "model", Recorded: "haiku", Live: "opus"}}}
	steps := ui.Advice(view, agent.DefaultBands)
	rig.Check(t, len(steps) > 0 && steps[0].Command == "nbs-worker resume alpha --force", "a model: %v", steps)
	view.Drift = append(view.Drift, observe.Drift{Field: "cwd"})
	steps = ui.Advice(view, agent.DefaultBands)
	rig.Check(t, len(steps) > 0 && steps[0].Command == "nbs-worker attach alpha", "a folder: %v", steps)
}
