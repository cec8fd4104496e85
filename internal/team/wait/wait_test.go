package wait

import (
	"strings"
	"testing"
	"testing/synctest"
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

// However long a claude has been starting, it is looked at again soon.
func TestLooksAtAClaudeThatStarts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, a := &waiting{}, &watched{Waited: Waited{Status: agent.Status{State: agent.Starting}}}
		var pauses []time.Duration
		for range 7 {
			w.schedule(a)
			pauses = append(pauses, time.Until(a.again)/time.Second)
			time.Sleep(time.Until(a.again)) //nolint:forbidigo // virtual time
		}
		rig.Check(t, pauses[0] == 1 && pauses[4] == 16 && pauses[5] == 30 && pauses[6] == 30, "%d", pauses)
	})
}
