package campaign

import (
	"testing"

	"nbs-worker/internal/sim/faults"
)

// A step that no verb makes any more would silently lead to no kill.
func TestStepsAreThoseOfTheVerbs(t *testing.T) {
	t.Parallel()
	g := newGround(t, world{kind: "stand-in"})
	for _, verb := range []faults.Verb{faults.Spawn, faults.Force, faults.Resume, faults.Stop, faults.Dismiss} {
		nobody := faults.Fault{Verb: verb, Moment: faults.Moment{Step: "none", Nth: 1}}
		if verb == faults.Resume {
			nobody.Before = faults.Stopped
		}
		g.play(t, nobody)
		for _, m := range faults.Steps(verb) {
			if !g.last.Saw(m) {
				t.Errorf("%s has no step %s %d:\n%s", verb, m.Step, m.Nth, g.last.Trail())
			}
		}
	}
}
