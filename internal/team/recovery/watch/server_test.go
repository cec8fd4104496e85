package watch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/recovery"
	"nbs-worker/internal/team/triage"
)

// in is an agent that was started now, in the nth tmux server at a socket.
func in(socket string, server int, p recovery.Patient) recovery.Patient {
	p.View.Record.Process.Tmux = &agent.TmuxPlace{Path: socket, ServerPID: server, ServerStartTicks: 1}
	p.View.Record.Started = time.Now().Truncate(time.Second)
	return p
}

// lostIn is one that was lost with that server.
func lostIn(socket string, server int) recovery.Patient {
	p := judged(triage.Dead, triage.LevelResume, agent.Dead)
	p.View.Status.Cause = agent.LostTmux
	return in(socket, server, p)
}

// held are the actions that concern no single agent.
func (w *world) held() []Action {
	return slices.DeleteFunc(slices.Clone(w.said), func(d Action) bool { return d.Word != SawHeld || d.Handle != "" })
}

// What a server takes with it counts for no agent, however many there are and however often it is,
// as long as that is not too soon.
func TestLostServerIsChargedToNoAgent(t *testing.T) {
	t.Parallel()
	agents := team{}
	for n := range 9 {
		agents[agent.Handle(fmt.Sprint("a", n))] = idle()
	}
	watched(t, func(p *Policy) { p.PerAgent, p.PerHour = 1, 2 }, agents, func(w *world) {
		const losses = 8
		for server := range losses {
			for handle := range agents {
				w.agents[handle] = new(lostIn("/s", server))
			}
			w.sign("")
			w.after(6 * time.Minute)
		}
		if len(w.repairs) != losses*len(agents) || len(w.held()) != 0 {
			t.Errorf("%d repairs, said %v", len(w.repairs), w.said)
		}
		w.becomes("a0", crashed())
		w.becomes("a0", crashed())
		if got := w.repairs[losses*len(agents):]; !slices.Equal(got, []string{"a0 3"}) {
			t.Errorf("its own crashes: %v", got)
		}
	})
}

// One that is not brought back by that is tried again as any other.
func TestRepairAfterALostServerThatFails(t *testing.T) {
	t.Parallel()
	watched(t, nil, team{"alpha": idle()}, func(w *world) {
		w.mend = func(agent.Handle) error { return fail.Errorf(fail.Failed, "no") }
		w.becomes("alpha", lostIn("/s", 1))
		w.after(window - 2*settle - time.Second)
		if len(w.repairs) != 1+Default().PerAgent {
			t.Errorf("%v", w.repairs)
		}
	})
}

func TestServerThatIsLostAgainAndAgainIsHeld(t *testing.T) {
	t.Parallel()
	watched(t, nil, team{"alpha": idle(), "beta": idle(), "other": idle()}, func(w *world) {
		for server := range 4 {
			w.agents["alpha"], w.agents["beta"] = new(lostIn("/s", server)), new(lostIn("/s", server))
			w.sign("alpha")
			w.sign("beta")
		}
		w.mustRepair("alpha 3", "beta 3", "alpha 3", "beta 3")
		if held := w.held(); len(held) != 1 || !strings.Contains(held[0].Detail, "the tmux server at \"/s\" died 3 times in 10 minutes") {
			t.Errorf("said %v", w.said)
		}
		if told := slices.DeleteFunc(slices.Clone(w.told), func(n Notice) bool { return n.Kind != Holds }); len(told) != 1 || told[0].Handle != "" {
			t.Errorf("told %v", told)
		}
		w.becomes("other", lostIn("/another", 9))
		w.mustRepair("alpha 3", "beta 3", "alpha 3", "beta 3", "other 3")
		w.after(window - time.Minute)
		w.mustRepair("alpha 3", "beta 3", "alpha 3", "beta 3", "other 3")
		w.after(time.Minute)
		w.mustRepair("alpha 3", "beta 3", "alpha 3", "beta 3", "other 3", "alpha 3", "beta 3")
	})
}

// Who resumes an agent there says that the server is well. A watch that begins meanwhile knows that
// it is held, and tells nobody again.
func TestHeldServerIsFreeWhenAnAgentIsResumedThere(t *testing.T) {
	t.Parallel()
	watched(t, nil, team{"alpha": idle(), "beta": idle(), "gamma": idle()}, func(w *world) {
		before := in("/s", 9, idle())
		w.after(time.Second)
		for server := range 3 {
			w.becomes("alpha", lostIn("/s", server))
		}
		w.mustRepair("alpha 3", "alpha 3")
		memory := w.memory
		w.becomes("gamma", before)
		w.becomes("beta", lostIn("/s", 2))
		w.mustRepair("alpha 3", "alpha 3")
		w.becomes("beta", in("/s", 3, idle()))
		w.mustRepair("alpha 3", "alpha 3", "alpha 3")

		w.agents["alpha"], w.agents["beta"], w.memory = new(lostIn("/s", 2)), new(before), memory
		defer w.begin(nil)()
		w.after(settle)
		if len(w.repairs) != 3 || len(w.held()) != 1 {
			t.Errorf("the next watch: %v, %v", w.repairs, w.said)
		}
	})
}

// To bring back any other that was there would start the server, and is not done either.
func TestWhoCrashedInAHeldServerIsNotBroughtBack(t *testing.T) {
	t.Parallel()
	watched(t, nil, team{"alpha": idle(), "beta": idle()}, func(w *world) {
		for server := range 3 {
			w.becomes("alpha", lostIn("/s", server))
		}
		w.becomes("beta", in("/s", 2, crashed()))
		w.mustRepair("alpha 3", "alpha 3")
		w.after(window)
		w.mustRepair("alpha 3", "alpha 3", "alpha 3", "beta 3")
	})
}

// When the watch begins, what was lost long ago was not lost just now.
func TestServersThatWereLostLongAgo(t *testing.T) {
	t.Parallel()
	watched(t, nil, team{}, func(w *world) {
		for server, handle := range []agent.Handle{"a", "b", "c"} {
			p := lostIn("/s", server)
			p.View.Record.Exits = []agent.Exit{{Invocation: p.View.Record.Process.Invocation, At: time.Now().Add(-time.Hour)}}
			w.agents[handle] = &p
		}
		w.sign("")
		w.mustRepair("a 3", "b 3", "c 3")
		if len(w.held()) != 0 {
			t.Errorf("said %v", w.said)
		}
	})
}
