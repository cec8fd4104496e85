package faults

import (
	"slices"
	"testing"

	"nbs-worker/internal/sim/rig"
)

func deal(seed uint64, n int) []string {
	plan := NewPlan(seed)
	var dealt []string
	for range n {
		dealt = append(dealt, plan.Next().String())
	}
	return dealt
}

func TestPlanIsAFunctionOfItsSeed(t *testing.T) {
	t.Parallel()
	rig.Check(t, slices.Equal(deal(1, 500), deal(1, 500)), "one seed, two plans")
	rig.Check(t, !slices.Equal(deal(1, 20), deal(2, 20)), "two seeds, one plan")
}

func TestPlanGoesEverywhere(t *testing.T) {
	t.Parallel()
	type at struct {
		verb   Verb
		moment Moment
	}
	plan := NewPlan(3)
	visited, victims, befores := map[at]int{}, map[string]int{}, map[Before]int{}
	passes := len(always)
	for range passes * len(plan.cards) {
		fault := plan.Next()
		fault.Moment.Share = 0
		visited[at{fault.Verb, fault.Moment}]++
		victims[fault.Who()]++
		befores[fault.Before]++
	}
	for verb := range steps {
		for _, m := range Steps(verb) {
			n := visited[at{verb, m}]
			rig.Check(t, n == passes, "%s %s: %d times in %d passes", verb, m, n, passes)
		}
		n := visited[at{verb, Moment{}}]
		rig.Check(t, n == timed*passes, "%s at a time: %d", verb, n)
	}
	for _, who := range always {
		name := (Fault{Victims: who}).Who()
		rig.Check(t, victims[name] != 0, "nobody killed %s", name)
	}
	rig.Check(t, len(befores) == 5, "%v", befores) // four ways, and none for the other verbs
}

// A fault that cannot hit costs a round.
func TestPlanSparesTheDead(t *testing.T) {
	t.Parallel()
	plan := NewPlan(4)
	for range 10 * len(plan.cards) {
		fault := plan.Next()
		removed := fault.Moment.Step == "record removed"
		if removed && (fault.Hits(Claude) || fault.Hits(Launcher)) {
			t.Fatal(fault)
		}
	}
}

// Two who share a plan have been everywhere when half of it was dealt to each.
func TestSharesGoEverywhereTogether(t *testing.T) {
	t.Parallel()
	visited := map[Verb]map[Moment]bool{}
	for share := range 2 {
		plan := NewShare(5, share, 2)
		for range (len(plan.cards) + 1) / 2 {
			fault := plan.Next()
			if visited[fault.Verb] == nil {
				visited[fault.Verb] = map[Moment]bool{}
			}
			visited[fault.Verb][fault.Moment] = true
		}
	}
	for _, verb := range Verbs {
		for _, m := range Steps(verb) {
			rig.Check(t, visited[verb][m], "%s %s was dealt to nobody", verb, m)
		}
	}
}

func TestAgainIsAtTheStep(t *testing.T) {
	t.Parallel()
	for _, verb := range Verbs {
		for _, m := range Steps(verb) {
			for try := range 2 {
				f := Again(verb, m, try)
				rig.Check(t, f.Verb == verb && f.Moment == m && len(f.Victims) == 1 && (f.Before == "") == (verb != Resume), "%v", f)
			}
		}
	}
}
