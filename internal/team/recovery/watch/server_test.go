package watch

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/recovery"
	"nbs-worker/internal/team/triage"
)

// lost is an agent that was lost with its tmux server.
func lost() recovery.Patient {
	p := judged(triage.Dead, triage.LevelResume, agent.Dead)
	p.View.Status.Cause = agent.LostTmux
	return p
}

// All that a server takes with it come back, however many there are. Where that happens again and again, each agent is
// quarantined.
func TestServerThatIsLostAgainAndAgain(t *testing.T) {
	t.Parallel()
	agents := team{}
	for n := range 9 {
		agents[agent.Handle(fmt.Sprint("a", n))] = idle()
	}
	watched(t, func(p *Policy) { p.PerHour = 2 }, agents, func(w *world) {
		for range Default().PerAgent + 1 {
			for handle := range agents {
				w.agents[handle] = new(lost())
			}
			w.sign("")
			w.after(time.Minute)
		}
		held := slices.DeleteFunc(w.words(), func(word Word) bool { return word != SawHeld })
		if len(w.repairs) != Default().PerAgent*len(agents) || len(held) != len(agents) {
			t.Errorf("%d repairs, said %v", len(w.repairs), w.said)
		}
		w.after(window)
		if len(w.repairs) != (Default().PerAgent+1)*len(agents) {
			t.Errorf("an hour later: %d repairs", len(w.repairs))
		}
	})
}

// An agent that is not brought back by that is tried again as any other.
func TestRepairAfterALostServerThatFails(t *testing.T) {
	t.Parallel()
	watched(t, func(p *Policy) { p.PerHour = 1 }, team{"alpha": idle()}, func(w *world) {
		w.mend = func(agent.Handle) error { return fail.Errorf(fail.Failed, "no") }
		w.becomes("alpha", lost())
		w.after(window - 2*settle - time.Second)
		w.mustRepair("alpha 3", "alpha 3")
	})
}
