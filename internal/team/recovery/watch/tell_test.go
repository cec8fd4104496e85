package watch

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/watching"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/recovery"
	"nbs-worker/internal/team/triage"
)

func TestEachThingIsToldOnce(t *testing.T) {
	t.Parallel()
	watched(t, nil, team{"alpha": idle()}, func(w *world) {
		question := asking()
		w.becomes("alpha", question)
		w.mustTell(Waits)
		w.sign("alpha")
		w.after(time.Hour)
		w.mustTell(Waits)
		question.View.Status.Detail = "a question"
		w.becomes("alpha", question)
		w.mustTell(Waits, Waits)
		w.becomes("alpha", idle())
		w.becomes("alpha", question)
		w.mustTell(Waits, Waits, Waits)
		w.becomes("alpha", held())
		w.sign("alpha")
		w.mustTell(Waits, Waits, Waits, Down, Holds)
	})
}

// done is an agent whose turn has ended, and at which no person has looked since.
func done(since time.Time) recovery.Patient {
	p := idle()
	p.Need = &attention.Need{Reason: attention.Done, Since: since}
	return p
}

func TestTheEndOfATurnIsToldOnce(t *testing.T) {
	t.Parallel()
	watched(t, nil, team{"alpha": busy()}, func(w *world) {
		first := time.Now()
		w.becomes("alpha", done(first))
		w.sign("alpha")
		w.mustTell(Done)
		if !w.told[0].Since.Equal(first) {
			t.Errorf("since %s; want %s", w.told[0].Since, first)
		}
		w.becomes("alpha", idle()) // a person has looked
		w.becomes("alpha", busy())
		w.mustTell(Done)
		w.becomes("alpha", done(time.Now()))
		w.mustTell(Done, Done)
		w.becomes("alpha", done(time.Now())) // a turn that was too short to be seen
		w.mustTell(Done, Done, Done)
	})
}

// A failed turn is told as what it is, and not also as an end.
func TestAFailedTurnIsToldOnce(t *testing.T) {
	t.Parallel()
	for reason, want := range map[attention.Reason]Kind{attention.Waits: Waits, attention.Short: Short, attention.Done: Holds} {
		watched(t, nil, team{"alpha": busy()}, func(w *world) {
			failed := judged(triage.Held, triage.LevelAssess, agent.TurnFailed)
			failed.Need = &attention.Need{Reason: reason, Since: time.Now()}
			w.becomes("alpha", failed)
			w.sign("alpha")
			w.mustTell(want)
			w.mustSay(SawHeld)
		})
	}
}

// A usage limit is no crash: who is down for one is held until it is lifted, and brought back then.
func TestAUsageLimitIsWaitedFor(t *testing.T) {
	t.Parallel()
	watched(t, nil, team{"alpha": idle()}, func(w *world) {
		w.becomes("alpha", limited(time.Hour))
		w.mustTell(Holds)
		w.locked(func() { w.agents["alpha"] = new(crashed()) })
		w.after(50 * time.Minute)
		w.mustRepair()
		w.after(20 * time.Minute)
		w.mustRepair("alpha 3")
		w.mustTell(Holds, Down, Repaired)
	})
}

// An agent that lives and met a usage limit gives no sign when that has reset: the watch looks then, and says that the
// agent now only waits for a prompt.
func TestTheResetOfALivingAgentsLimitIsTold(t *testing.T) {
	t.Parallel()
	limitedAlive := func(in time.Duration, steps ...triage.Step) recovery.Patient {
		p := judged(triage.Held, triage.LevelAssess, agent.TurnFailed)
		p.Steps = steps
		if in > 0 {
			p.Until = time.Now().Add(in)
		}
		return p
	}
	watched(t, nil, team{"alpha": idle()}, func(w *world) {
		w.becomes("alpha", limitedAlive(time.Hour, triage.AwaitReset, triage.Prompt))
		w.mustTell(Holds)
		w.locked(func() { w.agents["alpha"] = new(limitedAlive(0, triage.Prompt)) })
		w.after(50 * time.Minute)
		w.mustTell(Holds)
		w.after(20 * time.Minute)
		w.mustTell(Holds, Holds)
		w.mustRepair()
	})
}

func TestContextIsToldByItsBand(t *testing.T) {
	t.Parallel()
	watched(t, func(p *Policy) { p.MaxLevel = 0 }, team{"alpha": filled(30)}, func(w *world) {
		same := filled(20)
		for _, left := range []int{20, 18, 14, 12, 9, 80, 20} {
			same.View.Context.UsedPercent = 100 - left
			w.becomes("alpha", same)
		}
		w.mustTell(Short, Short, Short, Short)
		if left := w.told[1].ContextLeft; left == nil || *left != 14 {
			t.Errorf("%+v", w.told[1])
		}
	})
}

func TestOnlyWhatIsAskedForIsTold(t *testing.T) {
	t.Parallel()
	watched(t, func(p *Policy) { p.Notify.Of = []Kind{Repaired} }, team{"alpha": crashed(), "beta": asking()}, func(w *world) { w.mustTell(Repaired) })
	watched(t, func(p *Policy) { p.Notify = nil }, team{"alpha": crashed(), "beta": asking()}, func(w *world) { w.mustTell() })
}

// A program that fails is tried again some times; that is said once, and stops nothing.
func TestTellingThatFails(t *testing.T) {
	t.Parallel()
	watched(t, nil, team{"alpha": idle(), "beta": idle()}, func(w *world) {
		w.telling = errors.New("no route")
		w.becomes("alpha", asking())
		w.becomes("beta", crashed())
		w.mustRepair("beta 3")
		w.mustSay(DidNotTell, DidRepair)
		w.after(time.Hour)
		w.mustSay(DidNotTell, DidRepair)
		w.mustTell(Waits, Waits, Waits, Down, Down, Down, Repaired, Repaired, Repaired)
		w.telling = nil
		w.becomes("alpha", idle())
		w.becomes("alpha", asking())
		w.telling = errors.New("no route")
		w.becomes("alpha", crashed())
		if words := w.words(); !slices.Equal(words[2:], []Word{DidNotTell, DidRepair}) {
			t.Errorf("said %v", words)
		}
	})
}

// A person hears of it before a repair, which may take minutes.
func TestAPersonIsToldBeforeARepair(t *testing.T) {
	t.Parallel()
	watched(t, nil, team{"alpha": idle()}, func(w *world) {
		told := -1
		w.agents["alpha"], w.agents["beta"] = new(crashed()), new(asking())
		w.mend = func(handle agent.Handle) error {
			told = len(w.told)
			w.agents[handle] = new(idle())
			return nil
		}
		w.sign("")
		if told != 2 {
			t.Errorf("at the repair %d of two things were told", told)
		}
	})
}

// Many notices and a program that takes its time keep nobody from being brought back.
func TestARepairDoesNotWaitForAllNotices(t *testing.T) {
	t.Parallel()
	watched(t, nil, team{}, func(w *world) {
		for n := range 25 {
			w.agents[agent.Handle(fmt.Sprint("a", n))] = new(asking())
		}
		w.agents["z"], w.slow = new(crashed()), 20*time.Second
		w.sign("")
		w.after(w.slow)
		w.mustRepair("z 3")
		w.after(time.Hour)
		if len(w.told) != 27 {
			t.Errorf("told %v", w.kinds())
		}
	})
}

func TestWatchThatIsInterruptedWhileItTellsRepairsNobody(t *testing.T) {
	t.Parallel()
	watched(t, nil, team{}, func(w *world) {
		w.agents["alpha"], w.slow = new(crashed()), 5*time.Second
		stop := w.begin(nil)
		w.after(time.Second)
		stop()
		w.mustRepair()
	})
}

// A person who is told may pause the project: then nobody is repaired behind the notice.
func TestAPauseCountsThatCameWhileSomebodyWasTold(t *testing.T) {
	t.Parallel()
	watched(t, nil, team{}, func(w *world) {
		w.agents["alpha"], w.slow = new(crashed()), 5*time.Second
		w.sign("")
		w.after(time.Second)
		w.locked(func() { w.pause = &watching.Pause{Reason: "wait"} })
		w.after(time.Minute)
		w.mustRepair()
	})
}

func TestTellingIsLimited(t *testing.T) {
	t.Parallel()
	agents := team{}
	for _, name := range "abcdefgh" {
		agents[agent.Handle(name)] = asking()
	}
	watched(t, func(p *Policy) { p.Notify.PerHour = 3 }, agents, func(w *world) {
		for hour, want := range []int{3, 6, 8, 8} {
			if len(w.told) != want {
				t.Errorf("after %d hours %d were told; want %d", hour, len(w.told), want)
			}
			w.after(window)
		}
	})
}
