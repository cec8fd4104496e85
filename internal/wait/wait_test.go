package wait

import (
	"testing"
	"testing/synctest"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

// However long a claude has been starting, it is looked at again soon.
func TestLooksAtAClaudeThatStarts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, a := &waiting{}, &watched{Waited: Waited{Status: agent.Status{State: agent.Starting}}}
		var pauses []time.Duration
		for range 7 {
			w.schedule(a)
			pauses = append(pauses, time.Until(a.again)/time.Second)
			time.Sleep(time.Until(a.again))
		}
		rig.Check(t, pauses[0] == 1 && pauses[4] == 16 && pauses[5] == 30 && pauses[6] == 30, "%d", pauses)
	})
}
