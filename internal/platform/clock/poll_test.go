package clock

import (
	"nbs-worker/internal/sim/rig"
	"testing"
	"testing/synctest"
	"time"
)

// The last look is at the limit, and not up to a pause before it.
func TestPollAsksAtItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		err := Poll(t.Context(), 10*time.Second, func() (bool, error) { return time.Since(begun) >= 10*time.Second, nil })
		rig.Check(t, err == nil, "%v", err)
	})
}
