package wait

import (
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// An agent that has done nothing, or was interrupted, is at its prompt and will not be done: no hook tells which of
// both it is.
func TestWaitForATurnThatIsNotThere(t *testing.T) {
	t.Parallel()
	done, err := ParseCondition(untilDone)
	rig.Must(t, err)
	w := &waiting{Wanted: Wanted{For: []Condition{done}}, agents: []watched{{Waited: Waited{Handle: "alpha", Status: agent.Status{State: agent.Idle}}}}}
	hints := strings.Join(fail.HintsOf(w.timedOut()), "\n")
	rig.Check(t, strings.HasPrefix(hints, "the last turn of alpha was interrupted, or none has begun"), "%s", hints)
	w.agents[0].done, w.agents[0].goesOn = true, true
	hints = strings.Join(fail.HintsOf(w.timedOut()), "\n")
	rig.Equal(t, hints, "what alpha left in the background still runs; to wait for its turn alone: nbs-worker wait alpha --for idle", "hints")
}

// What is left of a limit is said as people say it, and a short one as it is.
func TestLimitInWords(t *testing.T) {
	t.Parallel()
	for limit, want := range map[time.Duration]string{2925312878: "within 2.9s:", 3 * time.Second: "within 3s:", time.Millisecond: "within 1ms:"} {
		w := waiting{Wanted: Wanted{Timeout: limit}}
		rig.Check(t, strings.Contains(w.timedOut().Error(), want), "%s: %v", limit, w.timedOut())
	}
}
