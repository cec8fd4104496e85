package restart_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/team/restart"

	"nbs-worker/internal/sim/rig"
)

const evenly = 0.5 // a jitter that changes nothing

var noon = time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC)

var (
	killed  = restart.Ending{Class: agent.EndCrash, Reason: "signal: killed", Abnormal: true}
	code1   = restart.Ending{Class: agent.EndCrash, Reason: "code 1"}
	left    = restart.Ending{Class: agent.EndClean, Reason: "code 0"}
	stopped = restart.Ending{Class: agent.EndCrash, Reason: "code 143", Asked: true}
	limited = restart.Ending{Class: agent.EndQuota, Reason: "code 1"}
	lost    = restart.Ending{Class: agent.EndLost, Reason: "nobody saw it"}
	full    = restart.Ending{Class: agent.EndCrash, Reason: "no space left on device", Abnormal: true, NoRoom: true}
	hungUp  = restart.Ending{Class: agent.EndServer, Reason: "its terminal was closed"}
)

// What each policy does after each end: the wait, "down" or "held".
func TestWhatFollowsAnEnd(t *testing.T) {
	t.Parallel()
	of := func(class agent.EndClass) restart.Ending { return restart.Ending{Class: class, Reason: "code 1"} }
	untilOne := limited
	untilOne.Until = noon.Add(time.Hour)
	late := limited
	late.Until = noon.Add(-time.Minute)
	for what, c := range map[string]struct {
		end                          restart.Ending
		no, onFailure, onAbn, always string
	}{
		"a signal":                      {killed, "down", "1s", "1s", "1s"},
		"a code":                        {code1, "down", "1s", "down", "1s"},
		"in good order":                 {left, "down", "down", "down", "1s"},
		"by us":                         {stopped, "down", "down", "down", "down"},
		"a usage limit":                 {limited, "down", "15m0s", "down", "15m0s"},
		"a usage limit until one":       {untilOne, "down", "1h0m0s", "down", "1h0m0s"},
		"a usage limit that is lifted":  {late, "down", "15m0s", "down", "15m0s"},
		"nobody is logged in":           {of(agent.EndAuth), "down", "held", "held", "held"},
		"claude refuses":                {of(agent.EndConfig), "down", "held", "held", "held"},
		"somebody has the conversation": {of(agent.EndConflict), "down", "held", "held", "held"},
		"nobody saw it":                 {lost, "down", "1s", "1s", "1s"},
		"the disk is full":              {full, "down", "10s", "10s", "10s"},
		"its terminal is gone":          {hungUp, "down", "down", "down", "down"},
	} {
		for word, want := range map[agent.RestartWord]string{
			agent.RestartNo: c.no, agent.RestartOnFailure: c.onFailure, agent.RestartOnAbnormal: c.onAbn, agent.RestartAlways: c.always,
		} {
			got := restart.Decide(word, agent.Restarts{}, c.end, noon, evenly)
			if follows(got) != want {
				t.Errorf("%s, with %s: %s; want %s", what, word, follows(got), want)
			}
			counts := got.Again && (c.end.Class == agent.EndCrash || c.end.Class == agent.EndLost) && !c.end.NoRoom
			if (len(got.Restarts.Counted) == 1) != counts || got.Restarts.Next.IsZero() == got.Again {
				t.Errorf("%s, with %s: %+v is remembered", what, word, got.Restarts)
			}
			rig.Check(t, word != agent.RestartNo || got.Why == "" && got.Restarts.IsZero(), "%s, without a policy: %+v", what, got)
		}
	}
}

func follows(d restart.Decision) string {
	switch {
	case d.Restarts.Hold != nil:
		return "held"
	case d.Again:
		return d.In.String()
	}
	return "down"
}

// after is what follows ends that come so long after each other.
func after(end restart.Ending, apart time.Duration, times int) (all []string, kept agent.Restarts) {
	for i := range times {
		d := restart.Decide(agent.RestartOnFailure, kept, end, noon.Add(time.Duration(i)*apart), evenly)
		all, kept = append(all, follows(d)), d.Restarts
	}
	return all, kept
}

func TestFiveFailuresInTenMinutesAreHeld(t *testing.T) {
	t.Parallel()
	got, kept := after(killed, time.Minute, 5)
	if want := []string{"1s", "2s", "4s", "8s", "held"}; !slices.Equal(got, want) {
		t.Errorf("%v; want %v", got, want)
	}
	want := agent.Hold{Class: agent.EndCrash, Reason: "it failed 5 times in 10 minutes, the last time by signal: killed", Since: noon.Add(4 * time.Minute)}
	diff := cmp.Diff(&want, kept.Hold)
	rig.Check(t, diff == "", "-want +got:\n%s", diff)
}

func TestRareFailuresBackOffUpToAMinute(t *testing.T) {
	t.Parallel()
	got, _ := after(killed, 3*time.Minute, 9)
	want := []string{"1s", "2s", "4s", "8s", "16s", "32s", "1m0s", "1m0s", "1m0s"}
	rig.Check(t, slices.Equal(got, want), "%v; want %v", got, want)
}

func TestTenMinutesReadyForgetAll(t *testing.T) {
	t.Parallel()
	_, kept := after(killed, time.Minute, 4)
	long := killed
	long.Ready = restart.Window
	d := restart.Decide(agent.RestartOnFailure, kept, long, noon.Add(15*time.Minute), evenly)
	rig.Check(t, follows(d) == "1s" && len(d.Restarts.Counted) == 1 && d.Restarts.Step == 1, "%+v", d)
}

// A clock that was put back must not keep failures in the count that lie in the future then.
func TestAClockThatIsPutBackForgetsTheCount(t *testing.T) {
	t.Parallel()
	_, kept := after(killed, time.Minute, 4)
	d := restart.Decide(agent.RestartOnFailure, kept, killed, noon.Add(-time.Hour), evenly)
	rig.Check(t, d.Again && len(d.Restarts.Counted) == 1, "%+v", d)
}

func TestJitterIsAFifthToBothSides(t *testing.T) {
	t.Parallel()
	for jitter, want := range map[float64]time.Duration{0: 800 * time.Millisecond, 0.5: time.Second, 1: 1200 * time.Millisecond} {
		d := restart.Decide(agent.RestartOnFailure, agent.Restarts{}, killed, noon, jitter)
		rig.Check(t, d.In == want, "with %v: %s; want %s", jitter, d.In, want)
	}
}

func TestAStartHasSucceededWhenItLivesTenSecondsAfterItWasReady(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ready, lived time.Duration
		want         bool
	}{
		{time.Second, 11 * time.Second, true},
		{time.Second, 10 * time.Second, false},
		{time.Minute, 70 * time.Second, true},
		{61 * time.Second, time.Hour, false},
	} {
		got := restart.StartedWell(c.ready, c.lived)
		rig.Check(t, got == c.want, "ready after %s, lived %s: %v", c.ready, c.lived, got)
	}
}

// day lets an agent live for 24 hours under a policy, as its launcher would: life is how a start
// with this number ends, and after how long. It returns when each start was made.
func day(life func(start int) (time.Duration, restart.Ending)) (starts []time.Time, kept agent.Restarts) {
	begun := time.Now()
	for n := 0; time.Since(begun) < 24*time.Hour; n++ {
		starts = append(starts, time.Now())
		lives, end := life(n)
		time.Sleep(lives) //nolint:forbidigo // virtual time
		d := restart.Decide(agent.RestartOnFailure, kept, end, time.Now(), float64(n%10)/10)
		if kept = d.Restarts; !d.Again {
			break
		}
		time.Sleep(d.In) //nolint:forbidigo // virtual time
	}
	return starts, kept
}

func TestADayOfRestarts(t *testing.T) {
	t.Parallel()
	readyFor := func(lives time.Duration, end restart.Ending) func(int) (time.Duration, restart.Ending) {
		end.Ready = lives
		return func(int) (time.Duration, restart.Ending) { return lives, end }
	}
	for what, c := range map[string]struct {
		life        func(int) (time.Duration, restart.Ending)
		least, most int // starts
		held        bool
	}{
		"falls at once":            {readyFor(time.Second, code1), 5, 5, true},
		"falls each minute":        {readyFor(time.Minute, code1), 5, 5, true},
		"falls every five minutes": {readyFor(5*time.Minute, killed), 235, 250, false}, // backed off to a minute
		"falls each hour":          {readyFor(time.Hour, killed), 24, 24, false},       // one second each time
		"at its limit all day":     {readyFor(2*time.Second, limited), 96, 96, false},
		"falls five times, rarely, then lives": {func(n int) (time.Duration, restart.Ending) {
			if n < 5 {
				return 3 * time.Minute, killed
			}
			return 24 * time.Hour, left
		}, 6, 6, false},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				starts, kept := day(c.life)
				if n := len(starts); n < c.least || n > c.most || (kept.Hold != nil) != c.held {
					t.Errorf("%d starts, held %v; want %d to %d, held %v", n, kept.Hold, c.least, c.most, c.held)
				}
				for i := restart.Limit; i < len(starts); i++ {
					if starts[i].Sub(starts[i-restart.Limit]) < restart.Window && c.held {
						t.Errorf("starts %d to %d are within %s", i-restart.Limit, i, restart.Window)
					}
				}
			})
		})
	}
}

func TestKeepsCrashing(t *testing.T) {
	t.Parallel()
	crash := agent.Exit{Code: 1, UptimeS: 3}
	often := func(exit agent.Exit) []agent.Exit { return []agent.Exit{exit, exit, exit} }
	for name, c := range map[string]struct {
		exits []agent.Exit
		want  bool
	}{
		"again and again":  {often(crash), true},
		"once":             {[]agent.Exit{{}, {}, crash}, false},
		"closed often":     {often(agent.Exit{Code: 129, HungUp: true}), false},
		"after a while":    {often(agent.Exit{Code: 1, UptimeS: 61}), false},
		"not seen":         {often(agent.Exit{Code: -1, Cause: agent.Crashed}), false},
		"terminated often": {often(agent.Exit{Code: 143}), false},
	} {
		rig.Check(t, restart.KeepsCrashing(&agent.Record{Exits: c.exits}) == c.want, "%s: want %t", name, c.want)
	}
}
