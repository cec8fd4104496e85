package wire

import (
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

// A cost has no digits that come only from rounding errors.
func TestCostIsRounded(t *testing.T) {
	t.Parallel()
	rig.Equal(t, newCost(&agent.Cost{USD: 0.42218500000000003}).USD, 0.422185, "a sum")
	rig.Equal(t, *roundedCost(new(0.1 + 0.2)), 0.3, "of a turn")
	rig.Check(t, newCost(nil) == nil && roundedCost(nil) == nil, "a cost that is not known")
}
