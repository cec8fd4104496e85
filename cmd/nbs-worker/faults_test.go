package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"nbs-worker/internal/sim/faults"
	"nbs-worker/internal/sim/rig"
)

// The standard campaign is always the same one; make faults takes more kills in another order each time.
const (
	standardKills = 100
	standardSeed  = 20260220
)

// TestFaults kills a verb, the launcher, claude or the tmux server at each step of each verb, checks the invariants and
// repairs with one resume. NBS_FAULTS is the number of kills, NBS_FAULTS_SEED the order. The parts of the campaign are
// worlds: of the stand-in and of the real Claude, with a bystander, whose presence also keeps the tmux server alive,
// and without.
func TestFaults(t *testing.T) {
	kills, seed := number(t, "NBS_FAULTS", standardKills), number(t, "NBS_FAULTS_SEED", standardSeed)
	realKills := kills * 3 / 10
	tally := newTally()
	t.Cleanup(func() { t.Logf("seed %d\n%s", seed, tally) })
	for i, w := range []world{
		{kind: "stand-in", kills: (kills - realKills + 1) / 2, hasOther: true},
		{kind: "real", kills: (realKills + 1) / 2, hasOther: true},
		{kind: "stand-in", kills: (kills - realKills) / 2},
		{kind: "real", kills: realKills / 2},
	} {
		t.Run(w.String(), func(t *testing.T) {
			t.Parallel()
			w.campaign(t, seed, faults.NewPlan(rand.New(rand.NewPCG(uint64(seed), uint64(i))).Uint64()), tally)
		})
	}
}

func number(t *testing.T, variable string, standard int) int {
	t.Helper()
	n, err := strconv.Atoi(cmp.Or(os.Getenv(variable), strconv.Itoa(standard)))
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// world is one part of a campaign.
type world struct {
	kind     string // "stand-in" or "real"
	kills    int
	hasOther bool
}

func (w world) String() string {
	if w.hasOther {
		return w.kind + "-with-bystander"
	}
	return w.kind + "-alone"
}

// campaign goes on until it has killed as often as was asked for. A fault that missed is not counted. After a failure a
// new world is begun: what the failure left must not spoil the rest.
func (w world) campaign(t *testing.T, seed int, plan *faults.Plan, tally *tally) {
	ground := newGround(t, w)
	kills, played := 0, 0
	planned := 0
	for limit := 2*w.kills + 50; kills < w.kills && planned < limit; {
		planned++
		fault, ran := plan.Next(), false
		ok := t.Run(fmt.Sprintf("%03d", planned), func(t *testing.T) {
			ran = true
			ground.play(t, fault)
		})
		if !ran {
			continue // -run has chosen others
		}
		played++
		if ground.last.Hit {
			kills++
		}
		tally.add(w.kind, fault, ground.last)
		if !ok {
			t.Logf("to repeat it: NBS_FAULTS_SEED=%d NBS_FAULTS=%d go test ./cmd/nbs-worker -count=1 -v -run '^TestFaults$/^%s$/^%03d$'",
				seed, number(t, "NBS_FAULTS", standardKills), w, planned)
			ground = newGround(t, w)
		}
	}
	if kills < w.kills && played == planned { // else -run has chosen some
		t.Errorf("%d kills of %d in %d rounds", kills, w.kills, planned)
	}
}

func newGround(t *testing.T, w world) *ground {
	t.Helper()
	g := &ground{stand: rig.StandIn(t), hasOther: w.hasOther, number: 100}
	long, short := 200*time.Millisecond, 100*time.Millisecond
	if w.kind == "real" {
		long, short = time.Second, 200*time.Millisecond
		g.team = newTeam(t, rig.ClaudeBinary(t, versions[0]))
	} else {
		g.team = newTeam(t, g.stand)
		g.env = append(g.env, "NBS_SIM_CLAUDE=spawn-child") // of each start something is left that must be found
	}
	g.usual = map[faults.Verb]time.Duration{faults.Spawn: long, faults.Resume: long, faults.Force: long, faults.Stop: short, faults.Dismiss: short}
	return g
}
