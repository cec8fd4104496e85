package watch

import (
	"errors"
	"slices"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/watching"
	"nbs-worker/internal/team/recovery"
	"nbs-worker/internal/team/subscribe"
	"nbs-worker/internal/team/triage"
)

type team map[agent.Handle]recovery.Patient

func TestCrashedAgentIsBroughtBackOnce(t *testing.T) {
	t.Parallel()
	watched(t, nil, team{"alpha": idle(), "beta": busy()}, func(w *world) {
		w.becomes("alpha", crashed())
		w.mustRepair("alpha 3")
		w.mustSay(DidRepair)
		w.mustTell(Down, Repaired)
		w.after(12 * time.Hour)
		w.mustRepair("alpha 3")
		w.mustTell(Down, Repaired)
	})
}

func TestWhoIsLeftAlone(t *testing.T) {
	t.Parallel()
	left := crashed()
	left.View.Status.Cause = agent.Exited
	launcher := crashed()
	launcher.View.Status.State = agent.Backoff
	holds := crashed()
	holds.View.Record.Restarts.Hold = &agent.Hold{}
	fresh := judged(triage.Missing, triage.LevelFresh, agent.Dead)
	working := judged(triage.Stressed, triage.LevelCompact, agent.Busy)
	working.Working, working.View.Context = true, &agent.ContextUse{UsedPercent: 99}
	watched(t, func(p *Policy) { p.Except = []agent.Handle{"OTHER"} }, team{
		"asking": asking(), "busy": busy(), "filled": filled(20), "fresh": fresh, "held": held(), "holds": holds, "idle": idle(), "launcher": launcher,
		"left": left, "other": crashed(), "stopped": judged(triage.Stopped, triage.LevelAssess, agent.Dead), "unknown": judged(triage.Unknown, triage.LevelAssess, agent.Unknown),
		"working": working,
	}, func(w *world) {
		w.after(12 * time.Hour)
		w.mustRepair()
		w.mustSay(SawHeld, SawHeld)
	})
}

func TestPolicySaysHowFarARepairGoes(t *testing.T) {
	t.Parallel()
	fresh := judged(triage.Missing, triage.LevelFresh, agent.Dead)
	agents := team{"alpha": filled(12), "beta": crashed(), "gamma": fresh, "delta": judged(triage.Stuck, triage.LevelCompact, agent.Busy)}
	for level, want := range map[triage.Level][]string{
		triage.LevelAssess:  {},
		triage.LevelCompact: {"alpha 2", "delta 2"},
		triage.LevelResume:  {"alpha 2", "delta 2", "beta 3"},
		triage.LevelFresh:   {"alpha 2", "delta 2", "beta 3", "gamma 4"},
	} {
		watched(t, func(p *Policy) { p.MaxLevel = level }, agents, func(w *world) { w.mustRepair(want...) })
	}
	watched(t, func(p *Policy) { p.Compact, p.Agents = "", []agent.Handle{"alpha", "beta"} }, agents, func(w *world) { w.mustRepair("beta 3") })
}

// Nobody at rest is looked at unless something happens to them; who works, by the clock.
func TestTheClockIsForThoseAtWork(t *testing.T) {
	t.Parallel()
	watched(t, nil, team{"alpha": idle(), "beta": busy(), "gamma": asking(), "delta": held()}, func(w *world) {
		before := len(w.looks)
		w.after(time.Hour + time.Second)
		if looks := w.looks[before:]; len(looks) != 12 || slices.ContainsFunc(looks, func(l []agent.Handle) bool { return !slices.Equal(l, []agent.Handle{"beta"}) }) {
			t.Errorf("in an hour it looked at %v", looks)
		}
	})
}

// A burst of signs leads to one look.
func TestSignsAreGathered(t *testing.T) {
	t.Parallel()
	watched(t, nil, team{"alpha": idle(), "beta": idle()}, func(w *world) {
		before := len(w.looks)
		for range 50 {
			w.signs <- subscribe.Sign{Handle: "alpha"}
		}
		w.sign("beta")
		if looks := w.looks[before:]; len(looks) != 1 || len(looks[0]) != 2 {
			t.Errorf("it looked at %v", looks)
		}
	})
}

// While an agent works its report changes all the time: the registry shows when it stops.
func TestReportOfAWorkingAgentIsNoSign(t *testing.T) {
	t.Parallel()
	busy := busy()
	busy.View.Status.Source = agent.FromRegistry
	watched(t, nil, team{"alpha": busy, "beta": idle()}, func(w *world) {
		before := len(w.looks)
		w.signs <- subscribe.Sign{Handle: "alpha", Report: true}
		w.after(2 * settle)
		rig.Check(t, len(w.looks) == before, "it looked at %v", w.looks[before:])
		w.signs <- subscribe.Sign{Handle: "beta", Report: true}
		w.sign("alpha")
		rig.Check(t, len(w.looks) == before+1 && len(w.looks[before]) == 2, "it looked at %v", w.looks[before:])
	})
}

func TestNewAgentIsTakenUp(t *testing.T) {
	t.Parallel()
	watched(t, nil, team{}, func(w *world) {
		w.becomes("alpha", crashed())
		w.mustRepair("alpha 3")
		delete(w.agents, "alpha")
		w.sign("")
		w.after(time.Hour)
		w.mustRepair("alpha 3")
	})
}

// Whoever takes the name of one that was dismissed is watched as any new agent.
func TestAgentThatIsSpawnedUnderTheNameOfADismissedOne(t *testing.T) {
	t.Parallel()
	watched(t, nil, team{"alpha": idle()}, func(w *world) {
		delete(w.agents, "alpha")
		w.sign("alpha")
		w.after(time.Hour)
		w.sign("") // by now it is forgotten
		w.becomes("alpha", crashed())
		w.mustRepair("alpha 3")
	})
}

// What happens to an agent that is not to be watched has nobody looked at.
func TestSignOfAnAgentThatIsExcluded(t *testing.T) {
	t.Parallel()
	watched(t, func(p *Policy) { p.Except = []agent.Handle{"other"} }, team{"alpha": idle(), "other": idle()}, func(w *world) {
		before, listed := len(w.looks), w.listed
		w.sign("other")
		if len(w.looks) != before || w.listed != listed {
			t.Errorf("it looked at %v, and listed the agents %d times", w.looks[before:], w.listed-listed)
		}
	})
}

// One that is no more is known by the look, and not looked at for ever.
func TestAgentThatIsDismissedIsForgotten(t *testing.T) {
	t.Parallel()
	watched(t, nil, team{"alpha": idle()}, func(w *world) {
		before := len(w.looks)
		delete(w.agents, "alpha")
		w.sign("alpha")
		w.after(12 * time.Hour)
		if looks := w.looks[before:]; len(looks) != 1 {
			t.Errorf("it looked at %v", looks)
		}
	})
}

func TestAgentThatCrashesAgainAndAgainIsQuarantined(t *testing.T) {
	t.Parallel()
	watched(t, nil, team{"alpha": idle()}, func(w *world) {
		for range 6 {
			w.becomes("alpha", crashed())
		}
		w.mustRepair("alpha 3", "alpha 3", "alpha 3")
		if got := w.words(); !slices.Equal(got[:4], []Word{DidRepair, DidRepair, DidRepair, SawHeld}) {
			t.Errorf("said %v", got)
		}
		if held := slices.DeleteFunc(w.kinds(), func(k Kind) bool { return k != Holds }); len(held) == 0 {
			t.Errorf("told %v", w.kinds())
		}
		w.after(window)
		if len(w.repairs) != 4 {
			t.Errorf("an hour later: %v", w.repairs)
		}
	})
}

func TestRepairsOfAnHourAreLimited(t *testing.T) {
	t.Parallel()
	agents := team{"a": crashed(), "b": crashed(), "c": crashed()}
	watched(t, func(p *Policy) { p.PerHour = 2 }, agents, func(w *world) {
		w.mustRepair("a 3", "b 3")
		w.mustSay(DidRepair, DidRepair, DidReachLimit)
		w.after(window)
		w.mustRepair("a 3", "b 3", "c 3")
		w.after(window)
		w.mustSay(DidRepair, DidRepair, DidReachLimit, DidRepair)
	})
}

func TestRepairThatFailsIsTriedAgainLater(t *testing.T) {
	t.Parallel()
	for kind, want := range map[fail.Kind]struct {
		repairs int // in an hour: another command's work is no attempt of ours
		last    Kind
	}{fail.Failed: {3, Holds}, fail.Held: {3, Holds}, fail.Conflict: {12, Down}} {
		watched(t, nil, team{"alpha": idle()}, func(w *world) {
			w.mend = func(agent.Handle) error { return fail.Errorf(kind, "no") }
			w.becomes("alpha", crashed())
			w.after(Default().Every - 3*settle)
			w.mustRepair("alpha 3")
			w.mustSay(DidNotRepair)
			w.after(window - Default().Every)
			if last := w.kinds()[len(w.told)-1]; len(w.repairs) != want.repairs || last != want.last {
				t.Errorf("%d: %v, told %v", kind, w.repairs, w.kinds())
			}
		})
	}
}

// What cannot be written down is not done; with room again it is.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	watched(t, nil, team{"alpha": idle()}, func(w *world) {
		w.disk = errors.New("no space left on device")
		w.becomes("alpha", crashed())
		w.mustRepair()
		w.mustSay(DidNotRepair)
		w.after(4 * Default().Every)
		w.disk = nil
		w.after(Default().Every)
		w.mustRepair("alpha 3")
		w.mustTell(Down, Repaired)
	})
}

// What is written down before a repair and after it is enough for the watch that comes next.
func TestWatchThatIsKilledForgetsNothing(t *testing.T) {
	t.Parallel()
	watched(t, nil, team{}, func(w *world) {
		w.memory = State{
			Repairs: []Attempt{{At: time.Now(), Handle: "alpha"}, {At: time.Now(), Handle: "ALPHA"}, {At: time.Now(), Handle: "alpha"}, {At: time.Now().Add(-window), Handle: "beta"}},
			Pending: []Notice{{Kind: Down, Handle: "gamma"}},
		}
		waits := asking()
		w.agents = map[agent.Handle]*recovery.Patient{"alpha": new(crashed()), "beta": new(crashed()), "delta": &waits}
		stop := w.begin(nil)
		w.after(settle)
		w.mustRepair("beta 3")
		if len(w.told) == 0 || w.told[0].Handle != "gamma" {
			t.Errorf("told %v", w.told)
		}
		stop()
		told := len(w.told)
		defer w.begin(nil)()
		w.after(settle)
		w.mustRepair("beta 3")
		if len(w.told) != told {
			t.Errorf("told again: %v", w.told[told:])
		}
	})
}

// A pause stops the repairs. It silences no notice, and is one itself.
func TestPauseStopsRepairs(t *testing.T) {
	t.Parallel()
	watched(t, nil, team{"alpha": idle()}, func(w *world) {
		w.pause = &watching.Pause{Reason: "moving"}
		w.sign("")
		w.becomes("alpha", crashed())
		w.after(12 * time.Hour)
		w.mustRepair()
		w.mustTell(Paused, Down)
		looks := len(w.looks)
		w.after(12 * time.Hour)
		if len(w.looks) != looks {
			t.Errorf("it looked without a sign: %v", w.looks[looks:])
		}
		w.pause = nil
		w.sign("")
		w.mustRepair("alpha 3")
		w.mustSay(DidPause, DidUnpause, DidRepair)
	})
}

// A launcher may start its agent later than it has said: its turn or room on the disk is waited for. That
// is looked at now and then, and not all the time.
func TestLimitThatIsLiftedBeforeItsAgentIsStarted(t *testing.T) {
	t.Parallel()
	now := time.Now()
	v := Watch{Policy: Default()}
	for left, want := range map[time.Duration]time.Duration{time.Hour: time.Hour, 0: v.Every, -time.Hour: v.Every} {
		c := &watchedAgent{status: agent.Status{State: agent.Backoff}, Assessment: triage.Assessment{Verdict: triage.Held, Until: now.Add(left)}}
		if got := v.nextLook(c, now).Sub(now); got != want {
			t.Errorf("with %s left the next look is in %s", left, got)
		}
	}
}
