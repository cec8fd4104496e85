package campaign

import (
	"fmt"
	"testing"

	"nbs-worker/internal/sim/faults"
	"nbs-worker/internal/sim/rig"
)

// campaign is one run of TestFaults.
type campaign struct {
	seed, kills int
	tally       *tally
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

// part is a world at work.
type part struct {
	*campaign
	*testing.T
	world  world
	ground *ground
}

// playPlan goes on until it has killed as often as was asked for. A fault that missed is not counted. whole is false when
// -run has chosen some rounds only.
func (p *part) playPlan(plan *faults.Plan) (whole bool) {
	kills, played, planned := 0, 0, 0
	for limit := 2*p.world.kills + 50; kills < p.world.kills && planned < limit; {
		planned++
		if !p.play(fmt.Sprintf("%03d", planned), plan.Next()) {
			continue
		}
		played++
		if p.ground.last.Hit {
			kills++
		}
	}
	whole = played == planned
	rig.Check(p, !whole || kills >= p.world.kills, "%d kills of %d in %d rounds", kills, p.world.kills, planned)
	return whole
}

// play plays one round as a test of its own; false when -run has chosen others. After a failure a new world is begun:
// what the failure left must not spoil the rest.
func (p *part) play(name string, fault faults.Fault) (ran bool) {
	ok := p.Run(name, func(t *testing.T) {
		ran = true
		p.ground.play(t, fault)
	})
	if !ran {
		return false
	}
	p.tally.add(p.world.kind, fault, p.ground.last)
	if !ok {
		p.Logf("to repeat it: NBS_FAULTS_SEED=%d NBS_FAULTS=%d go test ./cmd/nbs-worker -count=1 -v -run '^TestFaults$/^%s$/^%s$'",
			p.seed, p.kills, p.world, name)
		p.ground = newGround(p.T, p.world)
	}
	return true
}

// triesOfMissing is how often a step that no kill has hit is tried again.
const triesOfMissing = 8

// playMissing tries the steps that the plans of a kind have not hit, because the kill came late: some last for less than
// a millisecond. It insists on all of them. Every step exists for the real Claude and for the stand-in alike:
// TestStepsAreThoseOfTheVerbs sees the stand-in make each, and a campaign the real one.
func (p *part) playMissing() {
	round := 0
	for try := range triesOfMissing {
		for _, verb := range faults.Verbs {
			for _, m := range p.tally.missing(p.world.kind, verb) {
				if p.tally.has(p.world.kind, verb, m) {
					continue // hit by a round that was meant for another
				}
				round++
				p.play(fmt.Sprintf("missing-%03d", round), faults.Again(verb, m, try))
			}
		}
	}
	p.Logf("%s: %d more rounds for steps that the plan had not hit", p.world.kind, round)
	for _, verb := range faults.Verbs {
		if missing := p.tally.missing(p.world.kind, verb); len(missing) > 0 {
			p.Errorf("%s: no kill has hit it %s, nor in %d tries more", of(p.world.kind, verb), missing, triesOfMissing)
		}
	}
}
