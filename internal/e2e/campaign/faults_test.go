package campaign

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/faults"
	"nbs-worker/internal/sim/rig"
)

// The standard campaign is always the same one; make faults takes more kills in another order each time.
const (
	standardKills = 50
	standardSeed  = 20260220
	// insistFrom is from how many kills on each step of each verb must have been hit, of both kinds of claude. It is
	// enough for the plan to deal every step to each kind.
	insistFrom = 500
)

// TestFaults kills a verb, the launcher, claude or the tmux server at each step of each verb, checks the invariants and
// repairs with one resume. NBS_FAULTS is the number of kills, NBS_FAULTS_SEED the order. The parts of the campaign are
// worlds: of the stand-in and of the real Claude, with a bystander, whose presence also keeps the tmux server alive,
// and without. The two of a kind share a plan.
func TestFaults(t *testing.T) {
	t.Parallel()
	c := &campaign{seed: e2e.Number(t, "NBS_FAULTS_SEED", standardSeed), kills: e2e.Number(t, "NBS_FAULTS", standardKills), tally: newTally()}
	t.Cleanup(func() { t.Logf("seed %d\n%s", c.seed, c.tally) })
	realKills := c.kills * 3 / 10
	for i, kind := range []struct {
		name  string
		kills int
	}{{"stand-in", c.kills - realKills}, {"real", realKills}} {
		seed := rand.New(rand.NewPCG(uint64(c.seed), uint64(i))).Uint64()
		var unfinished atomic.Int32 // of the two worlds of this kind
		unfinished.Store(2)
		for share, w := range []world{
			{kind: kind.name, kills: (kind.kills + 1) / 2, hasOther: true},
			{kind: kind.name, kills: kind.kills / 2},
		} {
			t.Run(w.String(), func(t *testing.T) {
				t.Parallel()
				p := &part{campaign: c, world: w, T: t, ground: newGround(t, w)}
				whole := p.playPlan(faults.NewShare(seed, share, 2))
				if whole && unfinished.Add(-1) == 0 && c.kills >= insistFrom {
					p.playMissing()
				}
			})
		}
	}
}

func newGround(t *testing.T, w world) *ground {
	t.Helper()
	g := &ground{stand: rig.StandIn(t), hasOther: w.hasOther, number: 100}
	long, short := 200*time.Millisecond, 100*time.Millisecond
	if w.kind == "real" {
		long, short = time.Second, 200*time.Millisecond
		g.team = newTeam(t, rig.ClaudeBinary(t, rig.Newest))
	} else {
		g.team = newTeam(t, g.stand)
		g.Env = append(g.Env, "NBS_SIM_CLAUDE=spawn-child") // of each start something is left that must be found
	}
	g.usual = map[faults.Verb]time.Duration{faults.Spawn: long, faults.Resume: long, faults.Force: long, faults.Stop: short, faults.Dismiss: short}
	return g
}
